#!/bin/bash
#SBATCH --nodes=1
printf "a\r\n"
