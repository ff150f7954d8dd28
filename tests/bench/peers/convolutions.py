"""The cases of the subject `channels_first` in PyTorch on one core, beside them.

Run it as root by `chrt -f 1 taskset -c 1 python3 convolutions.py BATCH N C O` where torch is installed. A line is a case and the
microseconds of a call, least of half a second: a batch of n x n images with c channels, filtered by o windows of 3 x 3.
"""
import sys

import torch
import torch.nn.functional as F

from least import least

torch.set_num_threads(1)
torch.manual_seed(0)


def gradient(filtered, x, w, by):
    x, w = (v.clone().requires_grad_(v is by) for v in (x, w))
    wanted = x if x.requires_grad else w
    return lambda: torch.autograd.grad(0.5 * (filtered(x, w) ** 2).sum(), wanted)


def main(batch, n, c, o):
    x, w = torch.rand(batch, c, n, n) - 0.5, torch.rand(o, c, 3, 3) - 0.5
    padded = lambda x, w: F.conv2d(x, w, padding=1)
    strided = lambda x, w: F.conv2d(x, w, stride=2)
    cases = {
        "window_3": lambda: F.conv2d(x, w),
        "padded": lambda: padded(x, w),
        "strided": lambda: strided(x, w),
        "by_images": gradient(padded, x, w, x),
        "by_windows": gradient(padded, x, w, w),
        "strided_by_images": gradient(strided, x, w, x),
    }
    for name, call in cases.items():
        print(f"{name:20} {1e6 * least(call, 0.5):10.1f} us")


main(*map(int, sys.argv[1:5]))
