#!/bin/bash
#SBATCH --nodes=2 # two nodes
#SBATCH --comment "two words" -n 4
hostname
