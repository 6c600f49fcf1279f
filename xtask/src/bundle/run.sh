#!/bin/sh
# Tests and times the GPU of a machine without cargo. Without words: suite, tests, bench. Results go to the folder RESULTS, or `results`.
#   suite      every program against the interpreter        tests    the tests that need a GPU
#   bench      the rows of benches/cuda                      peers    the rows beside torch, Inductor, Liger and XLA, as far as installed
#   start      a model's first call, without and with a cache    tuning    schedules as chosen against tuned ones
#   sanitize   compute-sanitizer over one program for each family of kernels: memcheck, and racecheck without clusters
cd "$(dirname "$0")" || exit 2
out=${RESULTS:-results}
mkdir -p "$out"
code=0
step() {
  echo "== $*"
  "$@" || code=1
}
[ $# -gt 0 ] || set -- suite tests bench
for word in "$@"; do
  case $word in
    suite) step ./xtask suite --out "$out/cuda-suite.json" ;;
    tests) for test in tests/bin/*; do step "$test"; done ;;
    bench) step ./xtask bench cuda --out "$out/cuda.json" ;;
    peers) step "${PYTHON:-python3}" benches/peers_cuda.py --library ./libfuseline_bridge.so --out "$out/peers-cuda.json" ;;
    start) step ./xtask bench start --out "$out/cuda-start.json" ;;
    tuning) step ./xtask bench tuning --out "$out/cuda-tuning.json" ;;
    sanitize) step ./xtask sanitize --logs "$out" --out "$out/cuda-sanitize.json" ;;
    *) echo "no step '$word': suite, tests, bench, peers, start, tuning, sanitize" >&2; exit 2 ;;
  esac
done
exit $code
