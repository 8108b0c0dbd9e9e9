// Package wrong is indented with blanks, which gofmt must report.
package wrong

func Wrong() int {
  return 1
}
