"""Progress of loops as bars that change in place."""

import html
import uuid


def duration(seconds):
    """`7.2 s`, `42 s`, `3:07`, `1:02:33`"""
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = int(seconds + 0.5)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def numbers(step):
    """`394/938  12 s left  loss 0.25`"""
    done, total, seconds = step["done"], step["total"], step["seconds"]
    parts = [str(done) if total is None else f"{done}/{total}"]
    if done > 0:
        left = total is not None and not step["ended"]
        parts.append(duration(seconds / done * (total - done)) + " left" if left else duration(seconds))
    if step["note"]:
        parts.append(step["note"])
    return "  ".join(parts)


def bundle(step):
    """A bar, as text and as HTML."""
    total = step["total"]
    label = step["label"] or "progress"
    text = f"{label}  {numbers(step)}"
    if total is None:
        return {"text/plain": text}
    share = step["done"] / total if total else 1.0
    full = int(share * 30)
    bar = "[" + "=" * full + " " * (30 - full) + "]"
    return {
        "text/plain": f"{label}  {int(share * 100):3} %  {bar}  {numbers(step)}",
        "text/html": f'{html.escape(label)} <progress value="{step["done"]}" max="{max(total, 1)}"></progress> '
        + html.escape(numbers(step)),
    }


class Bars:
    """The bars of one entry: a loop has the label that tells it from others that run."""

    def __init__(self, show):
        self._show = show  # of a message and its content
        self._ids = {}

    def step(self, step):
        label = step["label"]
        known = label in self._ids
        shown = self._ids.setdefault(label, f"melix-{uuid.uuid4()}")
        self._show(
            "update_display_data" if known else "display_data",
            {"data": bundle(step), "metadata": {}, "transient": {"display_id": shown}},
        )
        if step["ended"]:
            del self._ids[label]
