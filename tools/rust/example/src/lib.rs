//! A semaphore of one's own, and the plug-in that puts it into the cage.
mod semaphore;

use buzzer::{Boxed, Permits, Variant, FIFO, WAKE_IS_GRANT};
use semaphore::{Permit, Semaphore};

impl Permits for Semaphore {
    type Guard = Permit<'static>;
    fn new(permits: usize) -> Self {
        Semaphore::new(permits)
    }
    fn acquire(&'static self) -> Boxed<Self::Guard> {
        Box::pin(self.acquire())
    }
}

static EXAMPLE: Variant =
    Variant::new("example\0", "my semaphore\0", FIFO | WAKE_IS_GRANT).semaphore::<Semaphore>();
buzzer::plugin!(EXAMPLE);
