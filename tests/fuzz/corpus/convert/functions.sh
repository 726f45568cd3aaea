#!/bin/bash
#SBATCH -N 2
run() {
  local lr=$1 seed=${2:-0}
  echo "now $#"
  srun python t.py --lr "$lr" --seed $seed "$@" > log.$1
}
main() {
  module load cuda
  for lr in 0.1 0.2; do run $lr 'a b'; done
}
main "$@"
run 3
