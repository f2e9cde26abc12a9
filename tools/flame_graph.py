#!/usr/bin/env python3
"""Draws a flame graph as SVG from collapsed stacks ("outer;inner 42" a line): width is weight, depth is the call stack.

    flame_graph.py --title "on CPU" --unit samples < stacks > out.svg

Hover shows a frame's name and share; a click on a frame fills the width with it, a click on the ground resets.
"""

import argparse
import sys
from html import escape

WIDTH = 1_200  # pixels; the drawing scales with the window
ROW = 17
MARGIN = 10
HEAD = 44
CHARACTER = 6.6  # pixels of the font, for cutting names
NARROWEST = 0.3  # pixels below which a frame is not drawn

SCRIPT = """
const frames = [...document.querySelectorAll('g.f')];
const full = %WIDTH%, left = %LEFT%;
function zoom(x, w, depth) {
  for (const g of frames) {
    const [gx, gw, gd] = g.dataset.s.split(' ').map(Number);
    const above = gd < depth && gx <= x + 1e-9 && gx + gw >= x + w - 1e-9;
    const inside = gx >= x - 1e-9 && gx + gw <= x + w + 1e-9;
    g.style.display = above || inside ? '' : 'none';
    const nx = above ? 0 : (gx - x) / w, nw = above ? 1 : gw / w;
    const [rect, text] = [g.children[1], g.children[2]];
    rect.setAttribute('x', left + nx * full); rect.setAttribute('width', Math.max(0.1, nw * full - 0.5));
    text.setAttribute('x', left + nx * full + 3);
    const room = Math.floor(nw * full / %CHAR%) - 1;
    text.textContent = room < 3 ? '' : g.dataset.n.length > room ? g.dataset.n.slice(0, room - 1) + '…' : g.dataset.n;
  }
}
for (const g of frames) g.addEventListener('click', () => zoom(...g.dataset.s.split(' ').map(Number)));
"""


class Frame:
    """One box: a function under its callers."""

    def __init__(self, name):
        self.name, self.weight, self.children = name, 0, {}

    def child(self, name):
        return self.children.setdefault(name, Frame(name))

    def depth(self):
        return 1 + max((c.depth() for c in self.children.values()), default=0)


def read(lines):
    """The tree of all stacks. A line without a number at its end is skipped."""
    root = Frame("all")
    for line in lines:
        stack, _, weight = line.rstrip().rpartition(" ")
        if not stack or not weight.isdigit():
            continue
        frame = root
        frame.weight += int(weight)
        for name in stack.split(";"):
            frame = frame.child(name)
            frame.weight += int(weight)
    return root


def colour(name):
    """Kernel frames blue, library frames yellow, ours red; shades by name, so that neighbours differ and runs agree."""
    shade = sum(ord(c) * (i + 1) for i, c in enumerate(name)) % 40
    if name.endswith("_[k]"):
        return f"hsl({205 + shade // 4} 55% {68 + shade // 5}%)"
    if "taut::" in name:
        return f"hsl({8 + shade // 2} 75% {66 + shade // 5}%)"
    return f"hsl({42 + shade // 3} 75% {66 + shade // 5}%)"


def boxes(frame, x, depth, total):
    """(frame, left share, width share, depth) of what is wide enough to see, callees in order of name."""
    width = frame.weight / total
    if width * WIDTH < NARROWEST:
        return
    yield frame, x, width, depth
    for name in sorted(frame.children):
        child = frame.children[name]
        yield from boxes(child, x, depth + 1, total)
        x += child.weight / total


def draw(root, title, unit):
    height = HEAD + root.depth() * ROW + MARGIN
    left, full = MARGIN, WIDTH - 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="#fdfdfb"/>',
           f'<text x="{WIDTH / 2}" y="26" font-size="16" text-anchor="middle">{escape(title)}</text>']
    for frame, x, width, depth in boxes(root, 0.0, 0, max(1, root.weight)):
        y = height - MARGIN - (depth + 1) * ROW
        room = int(width * full / CHARACTER) - 1
        label = "" if room < 3 else frame.name if len(frame.name) <= room else frame.name[:room - 1] + "…"
        hint = f"{frame.name}: {frame.weight:,} {unit}, {100 * width:.2f} %"
        out.append(f'<g class="f" data-s="{x:.7f} {width:.7f} {depth}" data-n="{escape(frame.name, quote=True)}">'
                   f'<title>{escape(hint)}</title><rect x="{left + x * full:.1f}" y="{y}" width="{max(0.1, width * full - 0.5):.1f}" '
                   f'height="{ROW - 1}" rx="1" fill="{colour(frame.name)}"/>'
                   f'<text x="{left + x * full + 3:.1f}" y="{y + 12}">{escape(label)}</text></g>')
    script = SCRIPT.replace("%WIDTH%", str(full)).replace("%LEFT%", str(left)).replace("%CHAR%", str(CHARACTER))
    return "\n".join(out) + f"\n<script><![CDATA[{script}]]></script></svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--title", default="flame graph")
    parser.add_argument("--unit", default="samples")
    options = parser.parse_args()
    sys.stdout.write(draw(read(sys.stdin), options.title, options.unit))


if __name__ == "__main__":
    main()
