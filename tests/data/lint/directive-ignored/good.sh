#!/bin/bash
#SBATCH --nodes=1
#SBATCH --time=1:00:00
module load cuda
cat > other.sh <<EOF
#SBATCH --time=1:00:00
EOF
##SBATCH --mem=4G
