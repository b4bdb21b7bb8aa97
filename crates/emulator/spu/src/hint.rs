//! The one hint buffer of the SPU.

use super::BranchName;
use super::block::Tag;

/// The hint that ran last, until its branch runs, and the name of the branch that comes next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HintBuffer {
    hint: Option<Hint>,
    branch: Option<BranchName>,
}

#[derive(Debug, Clone, Copy)]
struct Hint {
    tag: Tag,
    /// The branch that it is for; none where it is for the next one.
    branch: Option<BranchName>,
}

impl HintBuffer {
    /// Puts a hint into the buffer; one that is there is lost.
    #[inline(always)]
    pub(super) const fn put(&mut self, tag: Tag, branch: Option<BranchName>) {
        self.hint = Some(Hint { tag, branch });
    }

    /// Names the branch that comes next.
    #[inline(always)]
    pub(super) const fn name_branch(&mut self, name: BranchName) {
        self.branch = Some(name);
    }

    /// The hint for the branch that runs now, if it is in the buffer.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Tag {
        let branch = self.branch.take();
        let hint = self.hint.filter(|hint| hint.branch.is_none() || hint.branch == branch);
        let Some(hint) = hint else { return Tag::NONE };
        self.hint = None;
        hint.tag
    }
}
