#!/usr/bin/env bash
# Installs NVIDIA's assembler and disassembler, ptxas and nvdisasm, into .nvidia of this checkout, where the tests look for
# them: the versions of scripts/ptxas.txt, from their Python wheels, as pip is configured to find these. Nothing else is kept
# of the wheels, no GPU and no root is needed, and a second call finds them there. Where they cannot be had it says so in a
# line and succeeds: what needs them is then skipped. It fails where a wheel is another than the one whose hash is known.
set -u
cd "$(dirname "$0")/.." || exit 1

folder=.nvidia wanted=scripts/ptxas.txt
if cmp -s "$wanted" "$folder/versions.txt"; then
  exit 0
fi
skip() { echo "ptxas: not installed, tests of machine code are skipped: $*"; exit 0; }
python3 -m pip --version >/dev/null 2>&1 || skip "there is no python3 with pip"

work=$(mktemp -d "${TMPDIR:-/tmp}/ptxas.XXXXXX") || skip "no temporary folder"
trap 'rm -rf "$work"' EXIT
if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --no-cache-dir --retries 1 --timeout 30 \
  --require-hashes --requirement "$wanted" --dest "$work" >"$work/log" 2>&1; then
  if grep -q 'DO NOT MATCH' "$work/log"; then
    echo "ptxas: the wheels are not those of $wanted:" && cat "$work/log"
    exit 1
  fi
  skip "$(grep . "$work/log" | tail -n 1)"
fi
python3 - "$work" >"$work/log" 2>&1 <<'EOF' || skip "$(grep . "$work/log" | tail -n 1)"
import glob, os, sys, zipfile
os.chdir(sys.argv[1])
os.mkdir("tools")
for wheel in sorted(glob.glob("*.whl")):
    z = zipfile.ZipFile(wheel)
    for name in z.namelist():
        tool = os.path.join("tools", os.path.basename(name))
        if name.endswith(("/bin/ptxas", "/bin/nvdisasm")):
            with open(tool, "wb") as f:
                f.write(z.read(name))
            os.chmod(tool, 0o755)
EOF
"$work/tools/ptxas" --version >"$work/log" 2>&1 && "$work/tools/nvdisasm" --version >>"$work/log" 2>&1 || skip "they do not run here: $(grep . "$work/log" | tail -n 1)"
mkdir -p "$folder" && mv -f "$work"/tools/* "$folder" && cp "$wanted" "$folder/versions.txt" || skip "cannot write $folder"
echo "ptxas: $(grep -o '^nvidia[^ ]*' "$wanted" | tr '\n' ' ')in $folder"
