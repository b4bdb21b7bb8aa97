//! Whether a column numbers the runs of a configuration.

/// Numbers that go up in steps of 1 if they number something.
#[derive(Default)]
pub(super) struct Numbers {
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl Numbers {
    pub fn add(&mut self, number: u64) {
        self.count += 1;
        self.sum += u128::from(number);
        self.least = if self.count == 1 { number } else { self.least.min(number) };
        self.most = self.most.max(number);
    }

    /// Whether they are some numbers and all between them, each once.
    pub fn is_numbering(&self) -> bool {
        let [least, most, count] = [self.least, self.most, self.count].map(u128::from);
        most - least + 1 == count && 2 * self.sum == (least + most) * count
    }
}
