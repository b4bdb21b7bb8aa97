
use builtin;
use str;

set edit:completion:arg-completer[mmgp] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'mmgp'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'mmgp'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand study 'Do everything once: measure, fit, predict, emulate every (m, p), compare, draw'
            cand bench 'Run the micro-benchmarks on a machine and write their CSV files'
            cand profile 'Profile a sequential run (m = p = 1) of a program'
            cand fit 'Estimate the parameters of the model from measured tables'
            cand predict 'Rank every feasible configuration (m, p), predict one, or weigh the choice'
            cand emulate 'Run a program once on the emulated machine'
            cand validate 'Run every feasible (m, p) on the emulated machine, beside the prediction'
            cand plot 'Draw what was found: modelled against measured times, and more'
            cand report 'Make a page of a study: one HTML file with answer, pictures, tables and what-if'
            cand export 'Hand parameters or timed runs over to other tools'
            cand check-machine 'Hold the emulated machine against what has been published about the real one'
            cand likelihood 'Log-likelihood of a tree, through RAxML''s SPU kernels'
            cand simulate-alignment 'Simulate an alignment along a tree, under JC69'
            cand spu-timing 'Time an SPU assembly listing: when each instruction issues, and why not before'
            cand man 'Print the manual page, or write one for each command'
            cand completions 'Print what makes a shell complete commands and flags'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mmgp;study'= {
            cand --machine 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file'
            cand --out 'Folder for the files'
            cand --threads 'Threads of this computer to use; without it, all'
            cand --app 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)'
            cand --input 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]'
            cand --tree 'Tree to start from (Newick); without it, a random one, with RAxML as --start says'
            cand --generations 'Generations of PBPI''s Markov chain'
            cand --seed 'Seed of all random numbers'
            cand --placement 'In which memory the data of a process lie'
            cand --chains 'Chains at different temperatures, which swap them (Metropolis coupling)'
            cand --rows 'Rows of host processes, which share the chains; must divide m'
            cand --heating 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...'
            cand --swap-every 'Generations between two attempts to swap'
            cand --model 'How rates vary over sites, under GTR with empirical frequencies'
            cand --inferences 'Searches from different starts [default: 1 for emulate, else 0]'
            cand --bootstraps 'Searches on resampled columns [default: 3 for emulate, else 16]'
            cand --port 'How the functions of RAxML run'
            cand --start 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it'
            cand --search 'How much is searched'
            cand --quiet 'No progress, no summary'
            cand --original-acceptance 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;bench'= {
            cand --machine 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file'
            cand --out 'Folder for the files'
            cand --repetitions 'Repetitions of each measurement'
            cand --seed 'Seed of all random numbers'
            cand --quiet 'No progress'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'mmgp;profile'= {
            cand --machine 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file'
            cand --out 'File to write; without it, standard output'
            cand --repetitions 'Repetitions of the run'
            cand --app 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)'
            cand --input 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]'
            cand --tree 'Tree to start from (Newick); without it, a random one, with RAxML as --start says'
            cand --generations 'Generations of PBPI''s Markov chain'
            cand --seed 'Seed of all random numbers'
            cand --placement 'In which memory the data of a process lie'
            cand --chains 'Chains at different temperatures, which swap them (Metropolis coupling)'
            cand --rows 'Rows of host processes, which share the chains; must divide m'
            cand --heating 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...'
            cand --swap-every 'Generations between two attempts to swap'
            cand --model 'How rates vary over sites, under GTR with empirical frequencies'
            cand --inferences 'Searches from different starts [default: 1 for emulate, else 0]'
            cand --bootstraps 'Searches on resampled columns [default: 3 for emulate, else 16]'
            cand --port 'How the functions of RAxML run'
            cand --start 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it'
            cand --search 'How much is searched'
            cand --quiet 'No progress'
            cand --original-acceptance 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;fit'= {
            cand --alpha 'Concurrent matrix products: matrix_size,processes,repetition,time_s'
            cand --offload 'Ping-pong: bytes,repetition,round_trips,time_s'
            cand --context-switch 'Repeated yield: processes,repetition,switches,time_s'
            cand --collective 'Collectives: operation,ranks,bytes,repetition,calls,time_s'
            cand --profile 'Sequential profile: phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s, apu_serial_time_s,gap_time_s'
            cand --runs 'Timed runs: m,p,repetition,time_s as CSV, or what Extra-P or hyperfine wrote'
            cand --prior 'Parameters believed of what no file measures, each with its standard error: an earlier fit, a similar program'
            cand --out 'Parameter file to write; without it, standard output'
            cand --report 'Write how each value was obtained as JSON'
            cand --require 'Terms that must be known as themselves, not in a sum: t_hpu_s,g_s; exit code 1 and the reasons as JSON on standard output where the data cannot say'
            cand --robust 'Loss that single wild runs cannot move'
            cand --bootstrap 'Bootstrap intervals from so many resamples'
            cand --seed 'Seed of the resamples'
            cand --alpha-shape 'Shape of alpha over m; without it, cross-validation chooses'
            cand --collective-shape 'Shape of O_COL over ranks; without it, cross-validation chooses'
            cand --operation 'The collective operation that the program calls; without it, the mean over all measured'
            cand --operation-bytes 'The bytes that each rank contributes to it; without it, the mean over all measured'
            cand --name 'Name of the parameter set'
            cand --decomposition 'How the program divides its work among host threads'
            cand --tasks 'Independent tasks of a task decomposition'
            cand --apus 'APUs available; without it, as many as the largest measurement used'
            cand --machine 'Machine whose APUs are available: a built-in name or a TOML file'
            cand --iterations 'Pieces into which the shared loops can be cut: division is uneven'
            cand --hardware-contexts 'Hardware contexts of the host: switches and queueing only beyond'
            cand --memory 'Accelerators that stream from one memory: accelerators,bytes,repetition,time_s'
            cand --memories 'Memories of the machine'
            cand --placement 'How the data are dealt to them'
            cand --moved-bytes 'Bytes that all off-loads of a sequential run move'
            cand --exposed-bytes 'Bytes of them that an off-load waits for, before its first and after its last computation'
            cand --refined-out 'Parameter file of the refined model to write'
            cand --quiet 'Do not print how each term was obtained'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;predict'= {
            cand --params 'Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)'
            cand --model 'Model: mmgp is equation 11, refined the same with the [refined] terms of the parameters'
            cand --machine 'Machine whose APUs are available instead of those in the parameters'
            cand --apus 'APUs available instead of those in the parameters'
            cand --m 'Host threads of the one configuration to predict'
            cand --p 'APUs of each host thread in that configuration'
            cand --top 'Print only so many, best first'
            cand --format 'How to print'
            cand --out 'File to write; without it, standard output'
            cand --seed 'Seed of the draws behind the probabilities'
            cand --noise 'Relative noise of a single timed run'
            cand --host-factor 'Time of the off-loaded part on the host, relative to one APU'
            cand --change-cost 'What every change of p from one phase to the next costs [s]'
            cand --phase-rounds 'How often the phases follow one another; their terms are totals over all rounds'
            cand --nodes 'Rank (n, m, p) with up to so many nodes, each with the APUs and constraints of one; an extension of the model that no publication has measured'
            cand --node-overhead 'What every collective (off-load, where collectives are not counted) costs more as soon as there are several nodes [s]'
            cand --node-collective 'What it costs for each step of a tree over the nodes, ceil(log2 n) of them [s]'
            cand --min-m 'The fewest host threads'
            cand --max-m 'The most host threads'
            cand --min-p 'The fewest APUs for each thread'
            cand --max-p 'The most APUs for each thread'
            cand --m-divides 'm must divide this number'
            cand --p-divides 'p must divide this number'
            cand --apus-per-chip 'The APUs of a thread lie on one chip of so many; a chip holds whole threads only, and what is left of the APUs is a smaller chip'
            cand --scale 'What if a term were so many times as large: o_offload_s=0.5; repeatable. Its standard error scales with it; of alpha, the excess over 1 does. `alpha(8)` is one entry of a table'
            cand --explain 'Take one configuration, the best or that of --m and --p, apart: the terms of its time, what it answers to, and which error makes its interval'
            cand --next 'Rank what could be measured next by how much it lowers the expected regret of the choice: one further timed run at each (m, p), or the micro-benchmark of a term until its standard error has halved'
            cand --break-even 'From what size of a task off-loading pays, for each p, and up to how many APUs'
            cand --per-phase 'Choose an own p for each of the [[phases]] of the parameters, for every m'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;emulate'= {
            cand --machine 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file'
            cand --m 'Host processes'
            cand --p 'SPEs of each host process'
            cand --scheduler 'Scheduler of the host processes'
            cand --timing 'Whether kernels are timed at every call, or once for each shape'
            cand --format 'How to print'
            cand --out 'File to write; without it, standard output. With RAxML a folder for its trees and the report, which goes to standard output as well'
            cand --trace 'File for a trace of the run, in the JSON format of Chrome and Perfetto. `-` is standard output, which then has nothing else: the report goes to --out or nowhere'
            cand --app 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)'
            cand --input 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]'
            cand --tree 'Tree to start from (Newick); without it, a random one, with RAxML as --start says'
            cand --generations 'Generations of PBPI''s Markov chain'
            cand --seed 'Seed of all random numbers'
            cand --placement 'In which memory the data of a process lie'
            cand --chains 'Chains at different temperatures, which swap them (Metropolis coupling)'
            cand --rows 'Rows of host processes, which share the chains; must divide m'
            cand --heating 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...'
            cand --swap-every 'Generations between two attempts to swap'
            cand --model 'How rates vary over sites, under GTR with empirical frequencies'
            cand --inferences 'Searches from different starts [default: 1 for emulate, else 0]'
            cand --bootstraps 'Searches on resampled columns [default: 3 for emulate, else 16]'
            cand --port 'How the functions of RAxML run'
            cand --start 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it'
            cand --search 'How much is searched'
            cand --sample-every 'Sample the cold chain after every N-th generation [default: 10 with --samples or --consensus, else never]'
            cand --samples 'File for the samples (CSV): generation, ln likelihood, tree'
            cand --burn-in 'Share of the generations that comes before those that count for the consensus'
            cand --consensus 'File for the majority-rule consensus of the samples, with posterior probabilities (Newick)'
            cand --check-hazards 'Look for data that an SPE touches while a DMA command may still move them; the first such hazard ends the run'
            cand --quiet 'No progress'
            cand --original-acceptance 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;validate'= {
            cand --params 'Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)'
            cand --machine 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file'
            cand --out 'Folder for the files'
            cand --fail-above 'Fail where the mean error over all configurations is above this [%]'
            cand --threads 'Threads of this computer to use; without it, all'
            cand --app 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)'
            cand --input 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]'
            cand --tree 'Tree to start from (Newick); without it, a random one, with RAxML as --start says'
            cand --generations 'Generations of PBPI''s Markov chain'
            cand --seed 'Seed of all random numbers'
            cand --placement 'In which memory the data of a process lie'
            cand --chains 'Chains at different temperatures, which swap them (Metropolis coupling)'
            cand --rows 'Rows of host processes, which share the chains; must divide m'
            cand --heating 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...'
            cand --swap-every 'Generations between two attempts to swap'
            cand --model 'How rates vary over sites, under GTR with empirical frequencies'
            cand --inferences 'Searches from different starts [default: 1 for emulate, else 0]'
            cand --bootstraps 'Searches on resampled columns [default: 3 for emulate, else 16]'
            cand --port 'How the functions of RAxML run'
            cand --start 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it'
            cand --search 'How much is searched'
            cand --quiet 'No progress, no summary'
            cand --original-acceptance 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;plot'= {
            cand --out 'Picture to write: .svg or .png'
            cand --kind 'Which picture'
            cand --title 'Title above the picture'
            cand --study 'Folder of a study: every file below that is not given is looked for there'
            cand --validation 'validation.csv, as study and validate write it'
            cand --predictions 'predictions.csv, for a heat map and for intervals'
            cand --params 'Parameters, for the terms and for what was fitted: a TOML file or a published set'
            cand --split 'split.csv, where the time of each run went'
            cand --trace 'Trace of a run, as emulate --trace writes it'
            cand --alpha 'alpha.csv'
            cand --offload 'offload.csv'
            cand --context-switch 'context_switch.csv'
            cand --collective 'collective.csv'
            cand --memory 'memory.csv'
            cand --from 'Begin of the part of a run that is shown [s]'
            cand --to 'End of the part of a run that is shown [s]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;report'= {
            cand --out 'File to write; without it, standard output, unless that is a terminal'
            cand --title 'Title of the page [default: the name of the parameters]'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'mmgp;export'= {
            cand --params 'Parameters: a TOML or JSON file or a published set (pbpi-qs20, raxml-qs20)'
            cand --runs 'Timed runs: a CSV file, or one of Extra-P (text, JSON, JSON Lines) or hyperfine (JSON)'
            cand --to 'Format. Parameters: json, csv, c-header, rust, python, markdown, latex, starpu, simgrid, loggopsim; runs: extra-p, extra-p-json, extra-p-jsonl'
            cand --out 'File to write; without it, standard output'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'mmgp;check-machine'= {
            cand --format 'How to print'
            cand --out 'Folder for the files; without it, none is written'
            cand --fail-above 'Fail where the error of an independent figure is above this [%]'
            cand --threads 'Threads of this computer to use; without it, all'
            cand --quiet 'No progress'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;likelihood'= {
            cand --alignment 'Alignment: a PHYLIP or FASTA file, or a built-in one (sim12, sim24, sim42, sim107)'
            cand --tree 'Tree with branch lengths (Newick); nothing is optimised'
            cand --model 'Model of substitution, as below'
            cand --format 'How to print'
            cand --per-site 'One row for each site, too'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;simulate-alignment'= {
            cand --taxa 'Taxa of a random tree'
            cand --sites 'Columns of the alignment'
            cand --seed 'Seed of all random numbers'
            cand --mean-branch 'Mean length of the branches of a random tree [expected substitutions per site]'
            cand --tree 'Tree to simulate along (Newick), instead of a random one'
            cand --out 'Alignment to write (relaxed PHYLIP); without it, standard output'
            cand --tree-out 'File for the tree (Newick)'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'mmgp;spu-timing'= {
            cand --iterations 'Times to run the loop that the last instruction closes; without it, a straight line'
            cand --machine 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file'
            cand --format 'How to print'
            cand --out 'File to write; without it, standard output'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'mmgp;man'= {
            cand --out 'Folder for mmgp.1 and a page for each command: mmgp-study.1...; without it, mmgp.1 goes to standard output'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'mmgp;completions'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'mmgp;help'= {
            cand study 'Do everything once: measure, fit, predict, emulate every (m, p), compare, draw'
            cand bench 'Run the micro-benchmarks on a machine and write their CSV files'
            cand profile 'Profile a sequential run (m = p = 1) of a program'
            cand fit 'Estimate the parameters of the model from measured tables'
            cand predict 'Rank every feasible configuration (m, p), predict one, or weigh the choice'
            cand emulate 'Run a program once on the emulated machine'
            cand validate 'Run every feasible (m, p) on the emulated machine, beside the prediction'
            cand plot 'Draw what was found: modelled against measured times, and more'
            cand report 'Make a page of a study: one HTML file with answer, pictures, tables and what-if'
            cand export 'Hand parameters or timed runs over to other tools'
            cand check-machine 'Hold the emulated machine against what has been published about the real one'
            cand likelihood 'Log-likelihood of a tree, through RAxML''s SPU kernels'
            cand simulate-alignment 'Simulate an alignment along a tree, under JC69'
            cand spu-timing 'Time an SPU assembly listing: when each instruction issues, and why not before'
            cand man 'Print the manual page, or write one for each command'
            cand completions 'Print what makes a shell complete commands and flags'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'mmgp;help;study'= {
        }
        &'mmgp;help;bench'= {
        }
        &'mmgp;help;profile'= {
        }
        &'mmgp;help;fit'= {
        }
        &'mmgp;help;predict'= {
        }
        &'mmgp;help;emulate'= {
        }
        &'mmgp;help;validate'= {
        }
        &'mmgp;help;plot'= {
        }
        &'mmgp;help;report'= {
        }
        &'mmgp;help;export'= {
        }
        &'mmgp;help;check-machine'= {
        }
        &'mmgp;help;likelihood'= {
        }
        &'mmgp;help;simulate-alignment'= {
        }
        &'mmgp;help;spu-timing'= {
        }
        &'mmgp;help;man'= {
        }
        &'mmgp;help;completions'= {
        }
        &'mmgp;help;help'= {
        }
    ]
    $completions[$command]
}
