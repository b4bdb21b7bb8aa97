# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_mmgp_global_optspecs
    string join \n h/help V/version
end

function __fish_mmgp_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_mmgp_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_mmgp_using_subcommand
    set -l cmd (__fish_mmgp_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c mmgp -n "__fish_mmgp_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_needs_command" -s V -l version -d 'Print version'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "study" -d 'Do everything once: measure, fit, predict, emulate every (m, p), compare, draw'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "bench" -d 'Run the micro-benchmarks on a machine and write their CSV files'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "profile" -d 'Profile a sequential run (m = p = 1) of a program'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "fit" -d 'Estimate the parameters of the model from measured tables'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "predict" -d 'Rank every feasible configuration (m, p), predict one, or weigh the choice'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "emulate" -d 'Run a program once on the emulated machine'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "validate" -d 'Run every feasible (m, p) on the emulated machine, beside the prediction'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "plot" -d 'Draw what was found: modelled against measured times, and more'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "report" -d 'Make a page of a study: one HTML file with answer, pictures, tables and what-if'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "export" -d 'Hand parameters or timed runs over to other tools'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "check-machine" -d 'Hold the emulated machine against what has been published about the real one'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "likelihood" -d 'Log-likelihood of a tree, through RAxML\'s SPU kernels'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "simulate-alignment" -d 'Simulate an alignment along a tree, under JC69'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "spu-timing" -d 'Time an SPU assembly listing: when each instruction issues, and why not before'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "man" -d 'Print the manual page, or write one for each command'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "completions" -d 'Print what makes a shell complete commands and flags'
complete -c mmgp -n "__fish_mmgp_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l machine -d 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l out -d 'Folder for the files' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l threads -d 'Threads of this computer to use; without it, all' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l app -d 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l input -d 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l tree -d 'Tree to start from (Newick); without it, a random one, with RAxML as --start says' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l generations -d 'Generations of PBPI\'s Markov chain' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l seed -d 'Seed of all random numbers' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l placement -d 'In which memory the data of a process lie' -r -f -a "own-cell\t'On the Cell of the process'
interleaved\t'Page by page on all Cells'
by-spe\t'On the Cell of the SPE that works on them'"
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l chains -d 'Chains at different temperatures, which swap them (Metropolis coupling)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l rows -d 'Rows of host processes, which share the chains; must divide m' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l heating -d 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l swap-every -d 'Generations between two attempts to swap' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l model -d 'How rates vary over sites, under GTR with empirical frequencies' -r -f -a "gamma\t'Each pattern is a mixture of four rates'
cat\t'Each pattern has one of at most 25 rates'"
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l inferences -d 'Searches from different starts [default: 1 for emulate, else 0]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l bootstraps -d 'Searches on resampled columns [default: 3 for emulate, else 16]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l port -d 'How the functions of RAxML run' -r -f -a "tuned\t'On the SPEs, rewritten for them'
naive\t'On the SPEs, as first ported'
ppe\t'On the host'"
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l start -d 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l search -d 'How much is searched' -r -f -a "short\t'The beginning of each phase, for a study of the machine'
whole\t'Until nothing is gained'"
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l quiet -d 'No progress, no summary'
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -l original-acceptance -d 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior'
complete -c mmgp -n "__fish_mmgp_using_subcommand study" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand bench" -l machine -d 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand bench" -l out -d 'Folder for the files' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand bench" -l repetitions -d 'Repetitions of each measurement' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand bench" -l seed -d 'Seed of all random numbers' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand bench" -l quiet -d 'No progress'
complete -c mmgp -n "__fish_mmgp_using_subcommand bench" -s h -l help -d 'Print help'
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l machine -d 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l out -d 'File to write; without it, standard output' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l repetitions -d 'Repetitions of the run' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l app -d 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l input -d 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l tree -d 'Tree to start from (Newick); without it, a random one, with RAxML as --start says' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l generations -d 'Generations of PBPI\'s Markov chain' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l seed -d 'Seed of all random numbers' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l placement -d 'In which memory the data of a process lie' -r -f -a "own-cell\t'On the Cell of the process'
interleaved\t'Page by page on all Cells'
by-spe\t'On the Cell of the SPE that works on them'"
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l chains -d 'Chains at different temperatures, which swap them (Metropolis coupling)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l rows -d 'Rows of host processes, which share the chains; must divide m' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l heating -d 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l swap-every -d 'Generations between two attempts to swap' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l model -d 'How rates vary over sites, under GTR with empirical frequencies' -r -f -a "gamma\t'Each pattern is a mixture of four rates'
cat\t'Each pattern has one of at most 25 rates'"
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l inferences -d 'Searches from different starts [default: 1 for emulate, else 0]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l bootstraps -d 'Searches on resampled columns [default: 3 for emulate, else 16]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l port -d 'How the functions of RAxML run' -r -f -a "tuned\t'On the SPEs, rewritten for them'
naive\t'On the SPEs, as first ported'
ppe\t'On the host'"
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l start -d 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l search -d 'How much is searched' -r -f -a "short\t'The beginning of each phase, for a study of the machine'
whole\t'Until nothing is gained'"
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l quiet -d 'No progress'
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -l original-acceptance -d 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior'
complete -c mmgp -n "__fish_mmgp_using_subcommand profile" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l alpha -d 'Concurrent matrix products: matrix_size,processes,repetition,time_s' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l offload -d 'Ping-pong: bytes,repetition,round_trips,time_s' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l context-switch -d 'Repeated yield: processes,repetition,switches,time_s' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l collective -d 'Collectives: operation,ranks,bytes,repetition,calls,time_s' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l profile -d 'Sequential profile: phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s, apu_serial_time_s,gap_time_s' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l runs -d 'Timed runs: m,p,repetition,time_s as CSV, or what Extra-P or hyperfine wrote' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l prior -d 'Parameters believed of what no file measures, each with its standard error: an earlier fit, a similar program' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l out -d 'Parameter file to write; without it, standard output' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l report -d 'Write how each value was obtained as JSON' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l require -d 'Terms that must be known as themselves, not in a sum: t_hpu_s,g_s; exit code 1 and the reasons as JSON on standard output where the data cannot say' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l robust -d 'Loss that single wild runs cannot move' -r -f -a "huber\t'Linear beyond 1.345 standard deviations'
tukey\t'The biweight: wild runs do not count at all'"
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l bootstrap -d 'Bootstrap intervals from so many resamples' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l seed -d 'Seed of the resamples' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l alpha-shape -d 'Shape of alpha over m; without it, cross-validation chooses' -r -f -a "constant\t'The same for all m > 1'
linear\t'In proportion to m - 1, or to the ranks'
logarithmic\t'In proportion to log2'
curve\t'1 + a*(m - 1)^b, of alpha'
table\t'The value at each measured m, linear between'"
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l collective-shape -d 'Shape of O_COL over ranks; without it, cross-validation chooses' -r -f -a "constant\t'The same for all m > 1'
linear\t'In proportion to m - 1, or to the ranks'
logarithmic\t'In proportion to log2'
curve\t'1 + a*(m - 1)^b, of alpha'
table\t'The value at each measured m, linear between'"
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l operation -d 'The collective operation that the program calls; without it, the mean over all measured' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l operation-bytes -d 'The bytes that each rank contributes to it; without it, the mean over all measured' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l name -d 'Name of the parameter set' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l decomposition -d 'How the program divides its work among host threads' -r -f -a "data\t'One job whose data is cut into m pieces'
task\t'Independent tasks dealt to m workers'"
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l tasks -d 'Independent tasks of a task decomposition' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l apus -d 'APUs available; without it, as many as the largest measurement used' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l machine -d 'Machine whose APUs are available: a built-in name or a TOML file' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l iterations -d 'Pieces into which the shared loops can be cut: division is uneven' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l hardware-contexts -d 'Hardware contexts of the host: switches and queueing only beyond' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l memory -d 'Accelerators that stream from one memory: accelerators,bytes,repetition,time_s' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l memories -d 'Memories of the machine' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l placement -d 'How the data are dealt to them' -r -f -a "process\t'All APUs of a process stream from the memory of its own'
apu\t'Each APU streams its part from a memory of its own'"
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l moved-bytes -d 'Bytes that all off-loads of a sequential run move' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l exposed-bytes -d 'Bytes of them that an off-load waits for, before its first and after its last computation' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l refined-out -d 'Parameter file of the refined model to write' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -l quiet -d 'Do not print how each term was obtained'
complete -c mmgp -n "__fish_mmgp_using_subcommand fit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l params -d 'Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l model -d 'Model: mmgp is equation 11, refined the same with the [refined] terms of the parameters' -r -f -a "mmgp\t''
refined\t''"
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l machine -d 'Machine whose APUs are available instead of those in the parameters' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l apus -d 'APUs available instead of those in the parameters' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l m -d 'Host threads of the one configuration to predict' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l p -d 'APUs of each host thread in that configuration' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l top -d 'Print only so many, best first' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l format -d 'How to print' -r -f -a "table\t'For people'
csv\t'Comma-separated values with a header'
json\t'JSON'"
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l out -d 'File to write; without it, standard output' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l seed -d 'Seed of the draws behind the probabilities' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l noise -d 'Relative noise of a single timed run' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l host-factor -d 'Time of the off-loaded part on the host, relative to one APU' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l change-cost -d 'What every change of p from one phase to the next costs [s]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l phase-rounds -d 'How often the phases follow one another; their terms are totals over all rounds' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l nodes -d 'Rank (n, m, p) with up to so many nodes, each with the APUs and constraints of one; an extension of the model that no publication has measured' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l node-overhead -d 'What every collective (off-load, where collectives are not counted) costs more as soon as there are several nodes [s]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l node-collective -d 'What it costs for each step of a tree over the nodes, ceil(log2 n) of them [s]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l min-m -d 'The fewest host threads' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l max-m -d 'The most host threads' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l min-p -d 'The fewest APUs for each thread' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l max-p -d 'The most APUs for each thread' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l m-divides -d 'm must divide this number' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l p-divides -d 'p must divide this number' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l apus-per-chip -d 'The APUs of a thread lie on one chip of so many; a chip holds whole threads only, and what is left of the APUs is a smaller chip' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l scale -d 'What if a term were so many times as large: o_offload_s=0.5; repeatable. Its standard error scales with it; of alpha, the excess over 1 does. `alpha(8)` is one entry of a table' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l explain -d 'Take one configuration, the best or that of --m and --p, apart: the terms of its time, what it answers to, and which error makes its interval'
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l next -d 'Rank what could be measured next by how much it lowers the expected regret of the choice: one further timed run at each (m, p), or the micro-benchmark of a term until its standard error has halved'
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l break-even -d 'From what size of a task off-loading pays, for each p, and up to how many APUs'
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -l per-phase -d 'Choose an own p for each of the [[phases]] of the parameters, for every m'
complete -c mmgp -n "__fish_mmgp_using_subcommand predict" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l machine -d 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l m -d 'Host processes' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l p -d 'SPEs of each host process' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l scheduler -d 'Scheduler of the host processes' -r -f -a "edtlp\t'Event-driven task-level parallelism: a process that waits gives its hardware thread away'
linux\t'The machine\'s Linux: a process that waits spins until its time slice ends'"
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l timing -d 'Whether kernels are timed at every call, or once for each shape' -r -f -a "cached\t'Once for each kernel and shape'
exact\t'At every call'"
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l format -d 'How to print' -r -f -a "table\t'For people'
csv\t'Comma-separated values with a header'
json\t'JSON'"
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l out -d 'File to write; without it, standard output. With RAxML a folder for its trees and the report, which goes to standard output as well' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l trace -d 'File for a trace of the run, in the JSON format of Chrome and Perfetto. `-` is standard output, which then has nothing else: the report goes to --out or nowhere' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l app -d 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l input -d 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l tree -d 'Tree to start from (Newick); without it, a random one, with RAxML as --start says' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l generations -d 'Generations of PBPI\'s Markov chain' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l seed -d 'Seed of all random numbers' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l placement -d 'In which memory the data of a process lie' -r -f -a "own-cell\t'On the Cell of the process'
interleaved\t'Page by page on all Cells'
by-spe\t'On the Cell of the SPE that works on them'"
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l chains -d 'Chains at different temperatures, which swap them (Metropolis coupling)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l rows -d 'Rows of host processes, which share the chains; must divide m' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l heating -d 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l swap-every -d 'Generations between two attempts to swap' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l model -d 'How rates vary over sites, under GTR with empirical frequencies' -r -f -a "gamma\t'Each pattern is a mixture of four rates'
cat\t'Each pattern has one of at most 25 rates'"
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l inferences -d 'Searches from different starts [default: 1 for emulate, else 0]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l bootstraps -d 'Searches on resampled columns [default: 3 for emulate, else 16]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l port -d 'How the functions of RAxML run' -r -f -a "tuned\t'On the SPEs, rewritten for them'
naive\t'On the SPEs, as first ported'
ppe\t'On the host'"
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l start -d 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l search -d 'How much is searched' -r -f -a "short\t'The beginning of each phase, for a study of the machine'
whole\t'Until nothing is gained'"
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l sample-every -d 'Sample the cold chain after every N-th generation [default: 10 with --samples or --consensus, else never]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l samples -d 'File for the samples (CSV): generation, ln likelihood, tree' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l burn-in -d 'Share of the generations that comes before those that count for the consensus' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l consensus -d 'File for the majority-rule consensus of the samples, with posterior probabilities (Newick)' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l check-hazards -d 'Look for data that an SPE touches while a DMA command may still move them; the first such hazard ends the run'
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l quiet -d 'No progress'
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -l original-acceptance -d 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior'
complete -c mmgp -n "__fish_mmgp_using_subcommand emulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l params -d 'Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l machine -d 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l out -d 'Folder for the files' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l fail-above -d 'Fail where the mean error over all configurations is above this [%]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l threads -d 'Threads of this computer to use; without it, all' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l app -d 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l input -d 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l tree -d 'Tree to start from (Newick); without it, a random one, with RAxML as --start says' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l generations -d 'Generations of PBPI\'s Markov chain' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l seed -d 'Seed of all random numbers' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l placement -d 'In which memory the data of a process lie' -r -f -a "own-cell\t'On the Cell of the process'
interleaved\t'Page by page on all Cells'
by-spe\t'On the Cell of the SPE that works on them'"
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l chains -d 'Chains at different temperatures, which swap them (Metropolis coupling)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l rows -d 'Rows of host processes, which share the chains; must divide m' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l heating -d 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l swap-every -d 'Generations between two attempts to swap' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l model -d 'How rates vary over sites, under GTR with empirical frequencies' -r -f -a "gamma\t'Each pattern is a mixture of four rates'
cat\t'Each pattern has one of at most 25 rates'"
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l inferences -d 'Searches from different starts [default: 1 for emulate, else 0]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l bootstraps -d 'Searches on resampled columns [default: 3 for emulate, else 16]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l port -d 'How the functions of RAxML run' -r -f -a "tuned\t'On the SPEs, rewritten for them'
naive\t'On the SPEs, as first ported'
ppe\t'On the host'"
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l start -d 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l search -d 'How much is searched' -r -f -a "short\t'The beginning of each phase, for a study of the machine'
whole\t'Until nothing is gained'"
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l quiet -d 'No progress, no summary'
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -l original-acceptance -d 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior'
complete -c mmgp -n "__fish_mmgp_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l out -d 'Picture to write: .svg or .png' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l kind -d 'Which picture' -r -f -a "combined\t'The three below on one page'
m\t'Time against m, at p = 1'
p\t'Time against p, at m = 1'
all\t'All (m, p), grouped by m'
parity\t'Predicted against measured times'
residuals\t'Errors against m, p and m*p'
heat-map\t'Predicted time of every (m, p) as a colour'
heat-map-measured\t'Measured time of every (m, p) as a colour'
breakdown\t'Where the time goes: terms beside the measured split'
gantt\t'A run as it went, from its trace'
benchmarks\t'Micro-benchmarks with what was fitted to them'"
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l title -d 'Title above the picture' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l study -d 'Folder of a study: every file below that is not given is looked for there' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l validation -d 'validation.csv, as study and validate write it' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l predictions -d 'predictions.csv, for a heat map and for intervals' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l params -d 'Parameters, for the terms and for what was fitted: a TOML file or a published set' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l split -d 'split.csv, where the time of each run went' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l trace -d 'Trace of a run, as emulate --trace writes it' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l alpha -d 'alpha.csv' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l offload -d 'offload.csv' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l context-switch -d 'context_switch.csv' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l collective -d 'collective.csv' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l memory -d 'memory.csv' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l from -d 'Begin of the part of a run that is shown [s]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -l to -d 'End of the part of a run that is shown [s]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand plot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand report" -l out -d 'File to write; without it, standard output, unless that is a terminal' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand report" -l title -d 'Title of the page [default: the name of the parameters]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand report" -s h -l help -d 'Print help'
complete -c mmgp -n "__fish_mmgp_using_subcommand export" -l params -d 'Parameters: a TOML or JSON file or a published set (pbpi-qs20, raxml-qs20)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand export" -l runs -d 'Timed runs: a CSV file, or one of Extra-P (text, JSON, JSON Lines) or hyperfine (JSON)' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand export" -l to -d 'Format. Parameters: json, csv, c-header, rust, python, markdown, latex, starpu, simgrid, loggopsim; runs: extra-p, extra-p-json, extra-p-jsonl' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand export" -l out -d 'File to write; without it, standard output' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand export" -s h -l help -d 'Print help'
complete -c mmgp -n "__fish_mmgp_using_subcommand check-machine" -l format -d 'How to print' -r -f -a "table\t'For people'
csv\t'Comma-separated values with a header'
json\t'JSON'
markdown\t'Markdown, as in mmgp\'s README'"
complete -c mmgp -n "__fish_mmgp_using_subcommand check-machine" -l out -d 'Folder for the files; without it, none is written' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand check-machine" -l fail-above -d 'Fail where the error of an independent figure is above this [%]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand check-machine" -l threads -d 'Threads of this computer to use; without it, all' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand check-machine" -l quiet -d 'No progress'
complete -c mmgp -n "__fish_mmgp_using_subcommand check-machine" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand likelihood" -l alignment -d 'Alignment: a PHYLIP or FASTA file, or a built-in one (sim12, sim24, sim42, sim107)' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand likelihood" -l tree -d 'Tree with branch lengths (Newick); nothing is optimised' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand likelihood" -l model -d 'Model of substitution, as below' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand likelihood" -l format -d 'How to print' -r -f -a "table\t'For people'
csv\t'Comma-separated values with a header'
json\t'JSON'"
complete -c mmgp -n "__fish_mmgp_using_subcommand likelihood" -l per-site -d 'One row for each site, too'
complete -c mmgp -n "__fish_mmgp_using_subcommand likelihood" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand simulate-alignment" -l taxa -d 'Taxa of a random tree' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand simulate-alignment" -l sites -d 'Columns of the alignment' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand simulate-alignment" -l seed -d 'Seed of all random numbers' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand simulate-alignment" -l mean-branch -d 'Mean length of the branches of a random tree [expected substitutions per site]' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand simulate-alignment" -l tree -d 'Tree to simulate along (Newick), instead of a random one' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand simulate-alignment" -l out -d 'Alignment to write (relaxed PHYLIP); without it, standard output' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand simulate-alignment" -l tree-out -d 'File for the tree (Newick)' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand simulate-alignment" -s h -l help -d 'Print help'
complete -c mmgp -n "__fish_mmgp_using_subcommand spu-timing" -l iterations -d 'Times to run the loop that the last instruction closes; without it, a straight line' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand spu-timing" -l machine -d 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file' -r
complete -c mmgp -n "__fish_mmgp_using_subcommand spu-timing" -l format -d 'How to print' -r -f -a "table\t'For people'
csv\t'Comma-separated values with a header'
json\t'JSON'"
complete -c mmgp -n "__fish_mmgp_using_subcommand spu-timing" -l out -d 'File to write; without it, standard output' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand spu-timing" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mmgp -n "__fish_mmgp_using_subcommand man" -l out -d 'Folder for mmgp.1 and a page for each command: mmgp-study.1...; without it, mmgp.1 goes to standard output' -r -F
complete -c mmgp -n "__fish_mmgp_using_subcommand man" -s h -l help -d 'Print help'
complete -c mmgp -n "__fish_mmgp_using_subcommand completions" -s h -l help -d 'Print help'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "study" -d 'Do everything once: measure, fit, predict, emulate every (m, p), compare, draw'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "bench" -d 'Run the micro-benchmarks on a machine and write their CSV files'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "profile" -d 'Profile a sequential run (m = p = 1) of a program'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "fit" -d 'Estimate the parameters of the model from measured tables'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "predict" -d 'Rank every feasible configuration (m, p), predict one, or weigh the choice'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "emulate" -d 'Run a program once on the emulated machine'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "validate" -d 'Run every feasible (m, p) on the emulated machine, beside the prediction'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "plot" -d 'Draw what was found: modelled against measured times, and more'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "report" -d 'Make a page of a study: one HTML file with answer, pictures, tables and what-if'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "export" -d 'Hand parameters or timed runs over to other tools'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "check-machine" -d 'Hold the emulated machine against what has been published about the real one'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "likelihood" -d 'Log-likelihood of a tree, through RAxML\'s SPU kernels'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "simulate-alignment" -d 'Simulate an alignment along a tree, under JC69'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "spu-timing" -d 'Time an SPU assembly listing: when each instruction issues, and why not before'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "man" -d 'Print the manual page, or write one for each command'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "completions" -d 'Print what makes a shell complete commands and flags'
complete -c mmgp -n "__fish_mmgp_using_subcommand help; and not __fish_seen_subcommand_from study bench profile fit predict emulate validate plot report export check-machine likelihood simulate-alignment spu-timing man completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
