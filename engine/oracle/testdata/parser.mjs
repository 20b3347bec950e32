// Checks Oracle statements against the grammar inside @dbml/core (an ANTLR
// grammar of Oracle SQL and PL/SQL): node parser.mjs DIR, where DIR is what
// scripts/get-npm oracle-parser prints. One line of JSON in, {"sql": …}; one out:
// {"errors": [syntax errors of lexer and parser], "converter": why the library's
// own converter, which only knows tables, crashed on the parsed tree; ""}.
//
// The library runs its converter before it looks at the syntax errors, so a crash
// of the converter hides them; and it ignores errors of the lexer. Its one line
// that does so is replaced as it is loaded, and must be there exactly once.
import { readFileSync } from 'node:fs';
import Module from 'node:module';
import path from 'node:path';
import readline from 'node:readline';

const dir = path.resolve(process.argv[2]);
const file = path.join(dir, 'node_modules/@dbml/core/lib/index.cjs');
const source = readFileSync(file, 'utf8');
const line = /(let e=new \w+\(n\)),(t=new \w+\(new \w+\.CommonTokenStream\(e\)\);if\(t\.buildParseTrees=!0,t\.removeErrorListeners\(\),t\.addErrorListener\((\w+)\),)(\w+)=t\.sql_script\(\)\.accept\(new (\w+)\)/g;
if ([...source.matchAll(line)].length !== 1) {
  console.error('the library is not the one that this script knows');
  process.exit(1);
}
const library = new Module(file);
library.filename = file;
library.paths = Module._nodeModulePaths(path.dirname(file));
library._compile(source.replace(line, (_, lexer, parser, listener, result, converter) =>
  `${lexer};e.removeErrorListeners();e.addErrorListener(${listener});let ${parser}${result}=globalThis.parsed(t.sql_script(),${listener},()=>new ${converter})`), file);

let errors, converter;
globalThis.parsed = (tree, listener, converting) => {
  errors = listener.errors;
  try {
    return tree.accept(converting());
  } catch (e) {
    converter = String(e?.message ?? e);
    return { tables: [] };
  }
};

const reply = (sql) => {
  errors = undefined;
  converter = '';
  let other = '';
  try {
    library.exports.importer.import(sql, 'oracle');
  } catch (e) {
    other = String(e?.message ?? e);
  }
  if (errors === undefined) return { errors: [`the grammar was not reached: ${other}`], converter };
  return { errors: errors.map((e) => `${e.location?.start?.line}:${e.location?.start?.column} ${e.message ?? e.msg}`), converter: converter || (errors.length ? '' : other) };
};
for await (const text of readline.createInterface({ input: process.stdin })) {
  const before = process.cpuUsage();
  const answer = reply(JSON.parse(text).sql);
  const used = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({ ...answer, cpu: (used.user + used.system) / 1000 }) + '\n');
}
