// Command trtui builds, explores and runs inference engines: the workbench in the terminal, and headless commands.
package main

import "github.com/trtui/trtui/program"

func main() { program.Main(program.Own{}) }
