//! Sets of states for all columns, as bits.

/// For each 64 columns four words, one for each state: a bit is set where the state belongs to the
/// column's set. Bits beyond the last column are set.
pub type Sets = Vec<[u64; 4]>;

/// The sets of a tip whose residues in `columns` are `codes[column]`, values 1 to 15.
pub fn of_codes(codes: &[u8], columns: &[usize]) -> Sets {
    let word = |columns: &[usize]| {
        let mut states = [u64::MAX; 4];
        for (bit, &column) in columns.iter().enumerate() {
            for (state, word) in states.iter_mut().enumerate() {
                if codes[column] >> state & 1 == 0 {
                    *word &= !(1 << bit);
                }
            }
        }
        states
    };
    columns.chunks(64).map(word).collect()
}

/// What both sets have in common or, where that is nothing, all that either has.
pub fn join(one: &[[u64; 4]], other: &[[u64; 4]]) -> Sets {
    let word = |(one, other): (&[u64; 4], &[u64; 4])| {
        let common = each(|state| one[state] & other[state]);
        let nothing = !any(common);
        each(|state| common[state] | nothing & (one[state] | other[state]))
    };
    one.iter().zip(other).map(word).collect()
}

/// The columns whose sets have nothing in common.
pub fn changes(one: &[[u64; 4]], other: &[[u64; 4]]) -> u32 {
    let word = |(one, other): (&[u64; 4], &[u64; 4])| {
        (!any(each(|state| one[state] & other[state]))).count_ones()
    };
    one.iter().zip(other).map(word).sum()
}

fn each(of_state: impl Fn(usize) -> u64) -> [u64; 4] {
    std::array::from_fn(of_state)
}

fn any([a, c, g, t]: [u64; 4]) -> u64 {
    a | c | g | t
}
