//! Listings in the language of GNU assemblers.
#![allow(dead_code)]
mod expression;
mod layout;
mod operand;
mod text;
