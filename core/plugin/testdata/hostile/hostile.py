"""Makes the modules of this folder, each sound but for one thing: python hostile.py, with the package wasmtime."""
import wasmtime

MANIFEST = ('{"abi":1,"name":"hostile","version":"1","ops":[{"domain":"h","name":"H",'
            '"inputs":[{"name":"x","types":["f32"]}],"outputs":[{"name":"y"}]}]}')


def module(name, before="", memory='(memory (export "memory") 1)', manifest=MANIFEST, start="", tell="(i32.const 16)",
           alloc="(i32.const 4096)", infer="(i32.const 1024)", evaluate="(i32.const 0)", length=None, answer="", more=""):
    size = len(manifest) if length is None else length
    head = "".join("\\%02x" % b for b in size.to_bytes(8, "little"))
    text = manifest.replace('"', '\\"')
    # the answer: no error, F32 of shape [2], unless it is another one
    answer = answer or "".join("\\%02x" % b for v in (0, 1, 1, 2) for b in v.to_bytes(8, "little", signed=True))
    wat = f'''(module {before} {memory}
      (data (i32.const 16) "{head}{text}") (data (i32.const 1024) "{answer}")
      {f'(func (export "_initialize") {start})' if start else ""}
      (func (export "trtui_manifest") (result i32) {tell})
      (func (export "trtui_alloc") (param i32) (result i32) {alloc})
      (func $infer (export "trtui_infer") (param i32) (result i32) {infer})
      (func (export "trtui_eval") (param i32) (result i32) {evaluate}) {more})'''
    with open(name + ".wasm", "wb") as f:
        f.write(wasmtime.wat2wasm(wat))


def words(*list):
    return "".join("\\%02x" % b for v in list for b in (v % 2**64).to_bytes(8, "little"))


forever = "(loop $l (br $l)) (unreachable)"
module("sound")
module("forever-start", start="(loop $l (br $l))")
module("forever-infer", infer=forever)
module("forever-eval", evaluate=forever)
module("trap-start", start="(unreachable)")
module("trap-infer", infer="(unreachable)")
module("trap-eval", evaluate="(drop (i32.div_u (i32.const 1) (i32.const 0))) (i32.const 0)")
module("recursion", infer="(call $infer (local.get 0))")
module("memory-bomb", evaluate="(loop $l (br_if $l (i32.ne (memory.grow (i32.const 256)) (i32.const -1)))) (i32.const 0)")
module("memory-large", memory='(memory (export "memory") 65536)')
module("table-large", before="(table 4000000000 funcref)")
module("table-bomb", before="(table $t 1 funcref)",
       evaluate="(loop $l (br_if $l (i32.ne (table.grow $t (ref.null func) (i32.const 65536)) (i32.const -1)))) (i32.const 0)")
module("alloc-outside", alloc="(i32.const 65528)")
module("alloc-odd", alloc="(i32.const 4097)")
module("alloc-null", alloc="(i32.const 0)")
module("answer-outside", infer="(i32.const -8)", evaluate="(i32.const -8)")
module("answer-at-end", infer="(i32.const 65528)")
module("answer-long", answer=words(1 << 40), infer="(i32.const 1024)", evaluate="(i32.const 1024)")
module("answer-text-outside", answer="", infer="(i64.store (i32.const 65528) (i64.const 4000)) (i32.const 65528)")
module("answer-type", answer=words(0, 99, 1, 2))
module("answer-rank", answer=words(0, 1, 1 << 40, 2))
module("answer-extent", answer=words(0, 1, 1, 1 << 40))
module("answer-symbol", answer=words(0, 1, 1, -7))
module("answer-vast", answer=words(0, 1, 4, 2147483647, 2147483647, 2147483647, 2147483647))
module("answer-refuses", answer=words(4) + "no!\\0a", infer="(i32.const 1024)")
module("manifest-outside", tell="(i32.const -16)")
module("manifest-long", length=1 << 33)
module("manifest-junk", manifest="{]")
module("manifest-abi", manifest=MANIFEST.replace('"abi":1', '"abi":7'))
module("manifest-domain", manifest=MANIFEST.replace('"h"', '"ai.onnx"'))
module("import", before='(import "env" "secret" (func))')
module("import-memory", before='(import "env" "memory" (memory 1))', memory="")
module("no-memory", memory="(memory 1)")
module("exit", before='(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))', infer="(call $exit (i32.const 3)) (unreachable)")
# opens "/etc/passwd" below each of the first 16 descriptors: what it answers is how many could be opened, which must be none
module("files", before='''(import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))''',
       more='(data (i32.const 2048) "etc/passwd") (global $n (mut i32) (i32.const 0))',
       evaluate='''(local $fd i32) (loop $l
         (if (i32.eqz (call $open (local.get $fd) (i32.const 0) (i32.const 2048) (i32.const 10) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 3072)))
           (then (unreachable)))
         (local.set $fd (i32.add (local.get $fd) (i32.const 1)))
         (br_if $l (i32.lt_u (local.get $fd) (i32.const 16))))
         (i32.const 0)''')
module("floods-log", before='(import "trtui" "log" (func $log (param i32 i32)))',
       evaluate='''(local $i i32) (loop $l (call $log (i32.const 0) (i32.const -1)) (call $log (i32.const 16) (i32.const 60))
         (local.set $i (i32.add (local.get $i) (i32.const 1))) (br_if $l (i32.lt_u (local.get $i) (i32.const 5000)))) (i32.const 0)''')
with open("no-exports.wasm", "wb") as f:
    f.write(wasmtime.wat2wasm('(module (memory (export "memory") 1))'))
with open("other-signature.wasm", "wb") as f:
    f.write(wasmtime.wat2wasm('''(module (memory (export "memory") 1) (func $f (result i64) (i64.const 0))
      (export "trtui_manifest" (func $f)) (export "trtui_alloc" (func $f)) (export "trtui_infer" (func $f)) (export "trtui_eval" (func $f)))'''))
