/** Programs, good and bad, and what a push answers of each. The same hold for every engine. */
export interface ProgramRow {
  source: string;
  /** `program` unless it says something else. */
  purpose?: 'condition';
  /**
   * `good`: accepted. `newer`: the VRL compiler at hand lacks a function, so it is accepted with a note, or without one
   * where an engine compiles it. `node`: the same, and only a node's config can compile it. Else the reason for refusing.
   */
  is: 'good' | 'newer' | 'node' | RegExp;
  /** Where a refused one is wrong. */
  at?: readonly [line: number, column: number];
}

export const PROGRAMS: readonly ProgramRow[] = [
  // Functions that the compiler at hand lacks.
  { source: '.a = basename(.path) ?? "none"', is: 'newer' },
  { source: '.a = dirname(.path) ?? "none"', is: 'newer' },
  { source: '.a = pop(.list) ?? []', is: 'newer' },
  { source: '.a = parse_yaml(.message) ?? {}', is: 'newer' },
  { source: '.a = to_entries(.object) ?? []', is: 'newer' },
  { source: '.a = from_entries(.pairs) ?? {}', is: 'newer' },
  { source: '.a = split_path(.path) ?? []', is: 'newer' },
  { source: '.a = encode_csv(.list) ?? ""', is: 'newer' },
  { source: '.a = encrypt_ip(.ip, "sixteen byte key", "aes128") ?? "?"', is: 'newer' },
  { source: '.a = decrypt_ip(.ip, "sixteen byte key", "aes128") ?? "?"', is: 'newer' },
  { source: '.a = xxhash(.message) ?? 0', is: 'newer' },
  { source: '.a = haversine(.a, .b, .c, .d) ?? {}', is: 'newer' },
  { source: 'file = basename(.path) ?? "none"\n.b = upcase(string(file) ?? "")', is: 'newer' },
  { source: '# basename of the path\n.a = basename(.path) ?? "none"\n.b = 1', is: 'newer' },
  { source: '(basename(.path) ?? "") == "app.log"', purpose: 'condition', is: 'newer' },
  {
    source: 'if is_string(.path) {\n  .a = dirname(.path) ?? ""\n} else {\n  .a = null\n}',
    is: 'newer',
  },
  { source: '.row = get_enrichment_table_record("hosts", {"host": .host}) ?? {}', is: 'node' },
  // Escapes that it lacks.
  { source: '.a = "\\u{1b}[0m"', is: 'good' },
  { source: '.a = "\\u{1F30E} and \\u{41}"', is: 'good' },
  { source: '.a = "quote \\u{22}, slash \\u{5c}, line \\u{a}, brace \\u{7b}{"', is: 'good' },
  { source: '.a = replace(string!(.message), "\\u{1b}", "")', is: 'good' },
  { source: '# "\\u{1b}"\n.a = 1', is: 'good' },
  { source: '.a = contains(string!(.message), "\\u{0}")', is: 'good' },
  { source: 'contains(string(.message) ?? "", "\\u{1b}")', purpose: 'condition', is: 'good' },
  { source: '.a = "\\u{1b}"\n.b = to_int(.c)', is: /E103/, at: [2, 6] },
  { source: '.a = "\\u{1b}"; .b = nosuch(1)', is: /E105/, at: [1, 21] },
  { source: '.a = "\\u{D800}"', is: /E20\d/ },
  { source: '.a = "\\u{110000}"', is: /E20\d/ },
  { source: '.a = "\\u{}"', is: /E20\d/ },
  { source: '.a = "\\u{zz}"', is: /E20\d/ },
  { source: '.a = "\\x"', is: /E20\d/ },
  // Misspelt functions.
  { source: '.a = parse_jsn(.message)', is: /E105.*did you mean "parse_json"/, at: [1, 6] },
  { source: '.a = basenme(.path)', is: /E105.*did you mean "basename"/, at: [1, 6] },
  { source: '.a = parse_yml!(.message)', is: /E105.*did you mean "parse_(?:ya|x)ml"/, at: [1, 6] },
  { source: '.a = 1\n.b = to_entris(.a)', is: /E105.*did you mean "to_entries"/, at: [2, 6] },
  { source: '.a = split_paths(.path)', is: /E105.*did you mean "split_path"/, at: [1, 6] },
  { source: '.a = frobnicate(.path)', is: /E105/, at: [1, 6] },
  { source: '.a = basename(.path) ?? ""\n.b = nosuch(1)', is: /E105/, at: [2, 6] },
  // What is wrong beside a newer function is told.
  { source: '.a = parse_yaml(.message) ?? {}\n.b = to_int(.c)', is: /E103/, at: [2, 6] },
  { source: '.a = basename(.path) ?? ""\n.b = nope', is: /E701/, at: [2, 6] },
  { source: '.a = basename(.path) ?? ""\n.b = = 1', is: /E203/, at: [2, 6] },
  // Errors with their codes.
  { source: '.a = = 1', is: /E203/, at: [1, 6] },
  { source: '.a = 1\n.b = parse_json(.message)', is: /E103/, at: [2, 6] },
  { source: '.a = to_int(.a)', is: /E103/, at: [1, 6] },
  { source: 'to_int(.a)', is: /E100/, at: [1, 1] },
  { source: '.a = upcase(1)', is: /E110/ },
  { source: '.a = upcase("a", "b", "c")', is: /E106/ },
  { source: '.a = upcase(valu: "a")', is: /E108/ },
  { source: '.a = upcase()', is: /E107/ },
  { source: '.a, err = downcase("A")', is: /E104/ },
  { source: '.b = nope', is: /E701/, at: [1, 6] },
  { source: ".a = r'['", is: /E101/ },
  { source: '.a = "open', is: /E20\d/ },
  { source: 'if .a == 1 { .b = 2', is: /E20\d/ },
  { source: 'if 1 { .b = 2 }', is: /E102/ },
  { source: '.a = 1 + "b" + null', is: /E\d{3}/ },
  // Dollars.
  { source: '.a = replace(string!(.message), r\'(\\d+)\', "<$$1>")', is: 'good' },
  { source: '.a = "costs 5$$"', is: 'good' },
  // Good ones.
  { source: '.', is: 'good' },
  { source: '', is: 'good' },
  { source: '# nothing but a comment', is: 'good' },
  { source: '. = parse_json!(string!(.message))\n.at = now()', is: 'good' },
  { source: '.a, err = to_int(.a)\nif err != null {\n  .a = 0\n}', is: 'good' },
  { source: 'del(.password)\n.user = downcase(string!(.user))', is: 'good' },
  { source: '.tags = map_values(object!(.tags)) -> |value| { upcase(string!(value)) }', is: 'good' },
  { source: 'abort "not ours"', is: 'good' },
  { source: '.a = "é€🎉"', is: 'good' },
  { source: '.level == "error"', purpose: 'condition', is: 'good' },
  { source: 'exists(.a) && is_string(.a)', purpose: 'condition', is: 'good' },
  { source: '.level == ', purpose: 'condition', is: /E20\d/ },
  { source: 'starts_with(.message, "a")', purpose: 'condition', is: /E1\d\d/ },
];
