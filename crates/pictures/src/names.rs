//! What m and p are called on axes and in captions.

use super::columns::X_TITLE;

/// What m and p are called in a picture: in the words of the model, unless a user has others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Option<(String, String)>);

impl Names {
    /// The words of a user, in the plural: ranks, threads. Where they are m and p, those of the model.
    pub fn of_user((of_m, of_p): (String, String)) -> Self {
        Self(Some((of_m, of_p)).filter(|(of_m, of_p)| (of_m.as_str(), of_p.as_str()) != ("m", "p")))
    }

    /// The words for m and for p where a user has some, else what the model says there.
    fn or<const N: usize>(
        &self,
        of_user: impl Fn(&str, &str) -> [String; N],
        of_model: [&str; N],
    ) -> [String; N] {
        match &self.0 {
            Some((of_m, of_p)) => of_user(of_m, of_p),
            None => of_model.map(String::from),
        }
    }

    /// Titles of an axis of m, and of one of p.
    pub(super) fn axes(&self) -> [String; 2] {
        let of_user = |of_m: &str, of_p: &str| [of_m.to_string(), of_p.to_string()];
        self.or(of_user, ["host threads m", "APUs for each host thread p"])
    }

    /// Captions of times against m, and against p; the title of the axis of the latter.
    pub(super) fn alone(&self) -> [String; 3] {
        let of_user =
            |of_m: &str, of_p: &str| [format!("{of_p}: 1"), format!("{of_m}: 1"), of_p.to_string()];
        self.or(
            of_user,
            [
                "One APU for each host thread (p = 1)",
                "One host thread (m = 1)",
                "APUs for the host thread p",
            ],
        )
    }

    /// Captions of errors by m, by p and by m*p, and what the last counts.
    pub(super) fn errors(&self) -> [String; 4] {
        let of_user = |of_m: &str, of_p: &str| {
            let product = format!("{of_m} × {of_p}");
            [
                format!("(a) By {of_m}"),
                format!("(b) By {of_p}"),
                format!("(c) By {product}"),
                product,
            ]
        };
        self.or(
            of_user,
            [
                "(a) By host threads",
                "(b) By APUs of a host thread",
                "(c) By all APUs",
                "APUs in use m × p",
            ],
        )
    }

    /// The title of an axis of every configuration, by m and then by p.
    pub(super) fn grouped(&self) -> String {
        let of_user = |of_m: &str, of_p: &str| [format!("{of_p}, grouped by {of_m}")];
        let [title] = self.or(of_user, [X_TITLE]);
        title
    }
}
