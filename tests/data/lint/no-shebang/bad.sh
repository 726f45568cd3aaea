#SBATCH --nodes=1
hostname
