//! strftime_now: the time is given from outside, so that the same input gives the same bytes.

use super::budget::{fail, Outcome};

#[derive(Clone, Copy)]
pub struct Clock {
    pub year: i64,
    pub month: u32, // 1 to 12
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
}

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
];

impl Clock {
    /// "2025-01-31T23:59:58", the seconds or the whole time of day may be missing.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("the time {text:?} is not of the form 2025-01-31T23:59:58");
        let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
        let numbers = |text: &str, mark: char| -> Option<Vec<u32>> {
            text.split(mark)
                .map(|part| part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit())))
                .collect()
        };
        let date = numbers(date, '-').filter(|date| date.len() == 3).ok_or_else(wrong)?;
        let time = numbers(time, ':').filter(|time| time.len() == 2 || time.len() == 3).ok_or_else(wrong)?;
        let clock = Clock {
            year: date[0] as i64,
            month: date[1],
            day: date[2],
            hour: time[0],
            minute: time[1],
            second: time.get(2).copied().unwrap_or(0),
        };
        let valid = (1..=9999).contains(&clock.year)
            && (1..=12).contains(&clock.month)
            && (1..=days_in(clock.year, clock.month)).contains(&clock.day)
            && clock.hour < 24
            && clock.minute < 60
            && clock.second < 60;
        if valid { Ok(clock) } else { Err(wrong()) }
    }

    fn day_of_year(&self) -> i64 {
        (1..self.month).map(|month| days_in(self.year, month) as i64).sum::<i64>() + self.day as i64
    }

    /// 0 is Sunday.
    fn weekday(&self) -> i64 {
        let before = self.year - 1;
        (before * 365 + before / 4 - before / 100 + before / 400 + self.day_of_year()) % 7
    }

    /// ISO year and week.
    fn iso_week(&self) -> (i64, i64) {
        let weekday = (self.weekday() + 6) % 7; // 0 is Monday
        let week = (self.day_of_year() - 1 - weekday + 10) / 7;
        if week < 1 {
            let last = Clock { year: self.year - 1, month: 12, day: 31, ..*self };
            return (self.year - 1, last.iso_week().1);
        }
        let days = if days_in(self.year, 2) == 29 { 366 } else { 365 };
        if week == 53 && days - self.day_of_year() + weekday < 3 {
            return (self.year + 1, 1);
        }
        (self.year, week)
    }

    /// strftime in the C locale, of a time without a zone.
    pub fn format(&self, format: &str) -> Outcome<String> {
        let mut out = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let mut kind = chars.next();
            let mut pad = None; // as the kind says
            if let Some(flag @ ('-' | '_' | '0')) = kind {
                pad = Some(flag);
                kind = chars.next();
            }
            let Some(kind) = kind else { return fail("strftime_now: the format ends with '%'") };
            let number = |value: i64, width: usize, usual: char| match pad.unwrap_or(usual) {
                '-' => value.to_string(),
                '_' => format!("{value:width$}"),
                _ => format!("{value:0width$}"),
            };
            let hour = self.hour as i64;
            let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
            let text = match kind {
                'Y' => number(self.year, 1, '0'),
                'C' => number(self.year / 100, 2, '0'),
                'y' => number(self.year % 100, 2, '0'),
                'm' => number(self.month as i64, 2, '0'),
                'd' => number(self.day as i64, 2, '0'),
                'e' => number(self.day as i64, 2, '_'),
                'H' => number(hour, 2, '0'),
                'k' => number(hour, 2, '_'),
                'I' => number(twelve, 2, '0'),
                'l' => number(twelve, 2, '_'),
                'M' => number(self.minute as i64, 2, '0'),
                'S' => number(self.second as i64, 2, '0'),
                'j' => number(self.day_of_year(), 3, '0'),
                'u' => number((self.weekday() + 6) % 7 + 1, 1, '0'),
                'w' => number(self.weekday(), 1, '0'),
                'U' => number((self.day_of_year() + 6 - self.weekday()) / 7, 2, '0'),
                'W' => number((self.day_of_year() + 6 - (self.weekday() + 6) % 7) / 7, 2, '0'),
                'V' => number(self.iso_week().1, 2, '0'),
                'G' => number(self.iso_week().0, 1, '0'),
                'g' => number(self.iso_week().0 % 100, 2, '0'),
                'f' => "000000".into(),
                'a' => DAYS[self.weekday() as usize][..3].into(),
                'A' => DAYS[self.weekday() as usize].into(),
                'b' | 'h' => MONTHS[self.month as usize - 1][..3].into(),
                'B' => MONTHS[self.month as usize - 1].into(),
                'p' => if hour < 12 { "AM" } else { "PM" }.into(),
                'P' => if hour < 12 { "am" } else { "pm" }.into(),
                'F' => self.format("%Y-%m-%d")?,
                'D' | 'x' => self.format("%m/%d/%y")?,
                'T' | 'X' => self.format("%H:%M:%S")?,
                'R' => self.format("%H:%M")?,
                'r' => self.format("%I:%M:%S %p")?,
                'c' => self.format("%a %b %e %H:%M:%S %Y")?,
                'z' | 'Z' => String::new(),
                'n' => "\n".into(),
                't' => "\t".into(),
                '%' => "%".into(),
                other => return fail(format!("strftime_now: unknown format '%{other}'")),
            };
            out.push_str(&text);
        }
        Ok(out)
    }
}

fn days_in(year: i64, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
