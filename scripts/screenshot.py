#!/usr/bin/env python3
"""Draw a terminal program's screen as SVG: run it in tmux, press keys, capture the pane with its colours.

usage: screenshot.py OUT.svg COLUMNS ROWS SECONDS KEYS COMMAND...
KEYS are tmux key names separated by commas, pressed a second apart once SECONDS have passed; "" for none.
"""
import html
import re
import subprocess
import sys
import time

BASIC = ["#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
         "#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff"]
BACKGROUND, FOREGROUND = "#16181d", "#d8dee9"
CELL_W, CELL_H = 8.4, 18


def tmux(*args):
    return subprocess.run(["tmux", "-L", "screenshot", *args], check=True, capture_output=True, text=True).stdout


def colour(codes):
    """Return the colour that an SGR 38 or 48 sequence names, taking its numbers off codes."""
    kind = codes.pop(0)
    if kind == 2:
        r, g, b = codes.pop(0), codes.pop(0), codes.pop(0)
        return f"#{r:02x}{g:02x}{b:02x}"
    n = codes.pop(0)
    if n < 16:
        return BASIC[n]
    if n >= 232:
        v = 8 + 10 * (n - 232)
        return f"#{v:02x}{v:02x}{v:02x}"
    n -= 16
    return "#" + "".join(f"{0 if v == 0 else 55 + 40 * v:02x}" for v in (n // 36, n // 6 % 6, n % 6))


def spans(line, style):
    """Yield (column, text, style) for the runs of one captured line; style is carried from line to line."""
    column = 0
    for part in re.split(r"(\x1b\[[0-9;:]*m|\x1b\][^\x1b]*\x1b\\)", line):
        if not part.startswith("\x1b"):
            if part:
                yield column, part, dict(style)
                column += len(part)
            continue
        if part.startswith("\x1b]"):
            continue
        codes = [int(c) for c in re.split("[;:]", part[2:-1]) if c] or [0]
        while codes:
            c = codes.pop(0)
            if c == 0:
                style.clear()
            elif c in (1, 2, 4, 7):
                style[c] = True
            elif c in (22, 24, 27):
                for k in {22: (1, 2), 24: (4,), 27: (7,)}[c]:
                    style.pop(k, None)
            elif c in (38, 48):
                style[c] = colour(codes)
            elif c in (39, 49):
                style.pop(c - 1, None)
            elif 30 <= c <= 37 or 90 <= c <= 97:
                style[38] = BASIC[c - 30 if c < 40 else c - 82]
            elif 40 <= c <= 47 or 100 <= c <= 107:
                style[48] = BASIC[c - 40 if c < 50 else c - 92]


def svg(text, columns, rows):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * CELL_W:.0f} {rows * CELL_H}" '
           f'font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" xml:space="preserve">',
           f'<rect width="100%" height="100%" fill="{BACKGROUND}"/>']
    style = {}
    for row, line in enumerate(text.split("\n")[:rows]):
        for column, run, st in spans(line, style):
            fg, bg = st.get(38, FOREGROUND), st.get(48)
            if st.get(7):
                fg, bg = bg or BACKGROUND, fg
            x, y, width = column * CELL_W, row * CELL_H, len(run) * CELL_W
            if bg:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{CELL_H}" fill="{bg}"/>')
            if run.strip():
                extra = ' font-weight="bold"' if st.get(1) else ""
                extra += ' opacity="0.6"' if st.get(2) else ""
                extra += ' text-decoration="underline"' if st.get(4) else ""
                out.append(f'<text x="{x:.1f}" y="{y + 14}" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs" fill="{fg}"{extra}>{html.escape(run)}</text>')
    return "\n".join(out + ["</svg>\n"])


def main():
    path, columns, rows, wait, keys, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5], sys.argv[6:]
    tmux("new-session", "-d", "-s", "s", "-x", str(columns), "-y", str(rows), "env COLORTERM=truecolor " + " ".join(command))
    try:
        time.sleep(wait)
        for k in filter(None, keys.split(",")):
            tmux("send-keys", "-t", "s", k)
            time.sleep(1)
        text = tmux("capture-pane", "-e", "-p", "-t", "s")
    finally:
        tmux("kill-server")
    with open(path, "w") as f:
        f.write(svg(text, columns, rows))


if __name__ == "__main__":
    main()
