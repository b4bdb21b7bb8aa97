//! The models beside closed forms.
