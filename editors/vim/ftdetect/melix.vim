autocmd BufRead,BufNewFile *.mlx setfiletype melix
