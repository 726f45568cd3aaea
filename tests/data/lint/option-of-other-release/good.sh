#!/bin/bash
#SBATCH --switches=1
hostname
