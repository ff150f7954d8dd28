#!/usr/bin/env python3
"""Runs notebooks in the Melix kernel of this repository and compares what comes out with what they hold.

    run.py MELIX NOTEBOOK...            compares
    run.py --update MELIX NOTEBOOK...   writes what comes out into them

Bars of progress and text on standard error, which tell times, are left out. Nothing needs to be installed but
ipykernel and nbclient; without these the status is 77.
"""

import json
import os
import pathlib
import sys
import tempfile

try:
    import ipykernel  # noqa: F401
    import nbclient
    import nbformat
except ImportError as error:
    print(f"SKIPPED: {sys.executable} has not all of ipykernel, nbclient and nbformat: {error}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def install_kernel(folder):
    """A kernelspec for the package as it stands in the repository."""
    spec = json.loads((ROOT / "editors/jupyter/kernelspec/kernel.json").read_text())
    spec["argv"][0] = sys.executable
    kernel = pathlib.Path(folder) / "kernels/melix"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(spec))
    os.environ["JUPYTER_PATH"] = folder
    for variable in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        os.environ[variable] = str(pathlib.Path(folder) / variable)
    os.environ["PYTHONPATH"] = str(ROOT / "editors/jupyter")


def is_kept(output):
    if output.output_type == "stream":
        return output.name == "stdout"
    return output.output_type != "display_data"


def whole(text):
    return "".join(text) if isinstance(text, list) else text


def texts(output):
    """What an output shows, by its kind."""
    if output.output_type == "stream":
        return {"stdout": whole(output.text)}
    if output.output_type == "error":
        return {"error": "\n".join(output.traceback)}
    return {mime: whole(data) for mime, data in output.data.items()}


def run(path):
    """The notebook as it is when all its cells have run; of a cell that fails the error is raised."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client = nbclient.NotebookClient(
        notebook, timeout=100, kernel_name="melix", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if is_kept(each)]
    return notebook


def differences(held, found):
    for old, new in zip(held.cells, found.cells):
        if old.cell_type != "code":
            continue
        wanted, got = [texts(each) for each in old.outputs], [texts(each) for each in new.outputs]
        if wanted != got:
            yield f"this cell\n{new.source}\ngives\n{got}\nand not\n{wanted}\n"


def main():
    arguments = sys.argv[1:]
    update = arguments[:1] == ["--update"]
    melix, *paths = arguments[update:]
    os.environ["MELIX"] = str(pathlib.Path(melix).resolve())
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        install_kernel(folder)
        for path in map(pathlib.Path, paths):
            found = run(path.resolve())
            if update:
                nbformat.write(found, path)
                continue
            for each in differences(nbformat.read(path, as_version=4), found):
                failed = True
                print(f"{path}: {each}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
