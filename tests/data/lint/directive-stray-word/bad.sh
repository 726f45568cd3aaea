#!/bin/bash
#SBATCH --nodes=2 two nodes
hostname
