#!/bin/bash
#SBATCH --job-name=interactive
hostname
