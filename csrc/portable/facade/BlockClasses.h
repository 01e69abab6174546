// What the load of the library has to do for the classes of blocks.

#pragma once

namespace alloy::portable {

/// The linker gives an executable that is not position independent its own copies of the block classes, taken
/// before the runtime resolved them. Copies them again; called once, after the classes were loaded and before
/// any of them is used.
void complete_copied_block_classes();

}  // namespace alloy::portable
