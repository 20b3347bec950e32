// Package scratch makes the directories that experiments write to, and finds and removes what a killed Filewise left
// in them.
//
// Every directory is registered before it is made: one small file for each in the user's state directory
// ($FILEWISE_STATE, else $XDG_STATE_HOME/filewise, else ~/.local/state/filewise, on Windows %LOCALAPPDATA%\filewise).
// The directory carries a mark with the same id. Only a directory whose registration, name and mark agree, and whose
// owner is dead, is ever removed: the owner holds a lock on the mark, and the kernel reports whether it still does;
// only a process whose PID, start time and mark agree is ever ended.
package scratch
