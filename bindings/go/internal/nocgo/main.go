// Command nocgo writes raw/nocgo.go: package raw for builds without cgo, with the types and numbers of raw/raw.go, and with
// functions that do nothing but say so. Run it in the module's folder after raw.go has changed; with -check it only tells if the
// file is as it would write it.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
)

const head = `// Code generated from raw.go by internal/nocgo; DO NOT EDIT.

//go:build !cgo

package raw

import "unsafe"

`

func main() {
	text, err := generate("raw/raw.go")
	if err == nil && len(os.Args) == 2 && os.Args[1] == "-check" {
		var old []byte
		if old, err = os.ReadFile("raw/nocgo.go"); err == nil && !bytes.Equal(old, text) {
			err = fmt.Errorf("raw/nocgo.go is not made from this raw/raw.go: go run ./internal/nocgo")
		}
	} else if err == nil {
		err = os.WriteFile("raw/nocgo.go", text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nocgo:", err)
		os.Exit(1)
	}
}

func generate(path string) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0) // without comments: raw.go has the documentation
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(head)
	for _, declaration := range file.Decls {
		if imports, ok := declaration.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			continue
		}
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil {
			body, err := stub(function)
			if err != nil {
				return nil, err
			}
			function.Body = body
		}
		if err := format.Node(&out, files, declaration); err != nil {
			return nil, err
		}
		out.WriteString("\n\n")
	}
	return format.Source(out.Bytes())
}

// stub is the body of a function that is not there: as that of one before the library is loaded, but with a reason of its own.
func stub(function *ast.FuncDecl) (*ast.BlockStmt, error) {
	results := function.Type.Results
	if results == nil {
		return &ast.BlockStmt{}, nil
	}
	result := results.List[0].Type.(*ast.Ident).Name
	parameters := function.Type.Params.List
	value := map[string]string{"Status": "withoutCgo(nil)", "int32": "0", "uint32": "0", "string": `""`}[result]
	if n := len(parameters); result == "Status" && n > 0 && parameters[n-1].Names[0].Name == "err" {
		value = "withoutCgo(err)"
	}
	if function.Name.Name == "StatusName" {
		value = "status.String()"
	}
	if value == "" {
		return nil, fmt.Errorf("%s returns a %s", function.Name.Name, result)
	}
	expression, err := parser.ParseExpr(value)
	return &ast.BlockStmt{List: []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{expression}}}}, err
}
