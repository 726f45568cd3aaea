#!/bin/bash
#SBATCH --nodes=1
while read -r name; do
  srun ./work "$name" < /dev/null
done < names.txt
