"""Snippets of filters, methods, tests and functions; rows as in snippets_language.py."""
from snippets_language import FORMATTED, TALK, VALUES

FUNCTIONS = [
    # a little of everything
    ("f-upper-lower", "{{ 'aÉß'|upper }}{{ 'AÉ'|lower }}{{ 'hello world'|capitalize }}{{ 'hello world-foo'|title }}"),
    ("f-trim", "[{{ '  a \\n'|trim }}][{{ 'xxaxx'|trim('x') }}]"),
    ("f-length", "{{ 'é😀'|length }}{{ b|length }}{{ d|length }}{{ b|count }}", VALUES),
    ("f-default",
     "{{ nope|default('d') }}{{ ''|default('e') }}|{{ ''|default('e', true) }}{{ none|default('z') }}"
     "{{ n|default('q', boolean=true) }}", VALUES),
    ("f-join", "{{ [1,'a',none]|join('-') }}{{ 'abc'|join(',') }}{{ messages|join(', ', attribute='role') }}", TALK),
    ("f-first-last", "{{ b|first }}{{ b|last }}{{ []|first }}|", VALUES),
    ("f-replace", "{{ 'aXbX'|replace('X', 'y') }}{{ 'aaa'|replace('a','b',2) }}"),
    ("f-int-float", "{{ '42'|int }}{{ '4.9'|int }}{{ 'x'|int }}{{ 'x'|int(7) }}{{ '1.5'|float }}{{ 3.9|int }}"),
    ("f-string", "{{ 1|string + 'a' }}{{ none|string }}{{ [1]|string }}"),
    ("f-list", "{{ 'abc'|list }}{{ d|list }}", VALUES),
    ("f-dictsort",
     "{{ {'b':1,'A':2,'c':0}|dictsort }}{% for k, v in {'z':1,'y':2}|dictsort(by='value', reverse=true) %}"
     "{{ k }}{% endfor %}"),
    ("f-items", "{% for k, v in d|items %}{{ k }}{% endfor %}{{ nope|items|list }}", VALUES),
    ("f-sort",
     "{{ [3,1,2]|sort }}{{ ['b','A','c']|sort }}{{ [1,3,2]|sort(reverse=true) }}"
     "{{ messages|sort(attribute='content')|map(attribute='content')|list }}", TALK),
    ("f-unique", "{{ [1,2,1]|unique|list }}"),
    ("f-reverse", "{{ [1,2]|reverse|list }}{{ 'abc'|reverse }}"),
    ("f-sum", "{{ [1,2,3]|sum }}{{ messages|map(attribute='content')|map('length')|sum }}", TALK),
    ("f-min-max", "{{ [3,1]|min }}{{ [3,1]|max }}"),
    ("f-abs-round", "{{ -3|abs }} {{ 2.567|round(2) }} {{ 2.5|round }} {{ 7.0|round|int }}"),
    ("f-batch", "{{ [1,2,3]|batch(2)|list }}"),
    ("f-slice", "{{ [1,2,3,4]|slice(2)|list }}"),
    ("f-indent",
     "{{ 'a\\nb\\n\\nc'|indent(2) }}|{{ 'a\\nb'|indent(2, true) }}|{{ 'a\\n\\nb'|indent(2, blank=true) }}"),
    ("f-escape", "{{ '<a&\"\\'>'|e }}{{ '<b>'|escape|upper }}"),
    ("f-safe", "{{ '<b>'|safe }}"),
    ("f-wordcount", "{{ 'a b  c'|wordcount }}"),
    ("f-truncate", "{{ 'abcdefghij klm'|truncate(9) }}"),
    ("f-format", "{{ '%s-%03d'|format('a', 7) }}"),
    ("f-center", "[{{ 'ab'|center(6) }}]"),
    ("f-striptags", "{{ '<p>a</p> b'|striptags }}"),
    ("f-urlencode", "{{ 'a b&ü'|urlencode }}"),
    ("f-random-free-map", "{{ messages|map(attribute='role')|join(',') }}{{ ['a','b']|map('upper')|join }}", TALK),
    ("f-map-default", "{{ [{'a':1},{}]|map(attribute='a', default='-')|join }}"),
    ("f-select", "{{ [0,1,2,none]|select|list }}{{ range(6)|select('odd')|list }}{{ range(6)|reject('odd')|list }}"),
    ("f-selectattr",
     "{{ messages|selectattr('role','equalto','user')|map(attribute='content')|list }}"
     "{{ messages|rejectattr('role','eq','user')|list|length }}{{ [{'a':1},{'a':0},{}]|selectattr('a')|list }}"
     "{{ [{'a':1},{}]|selectattr('a','defined')|list }}"
     "{{ messages|selectattr('role','in',['system'])|list|length }}", TALK),
    ("f-groupby", "{% for g, ms in messages|groupby('role') %}{{ g }}:{{ ms|length }} {% endfor %}", TALK),
    ("f-attr", "{{ d|attr('x') }}|", VALUES),
    ("f-chain", "{{ ' a,b '|trim|upper|replace(',', ';') }}"),
    ("f-precedence", "{{ 'a' ~ 'b'|upper }}{{ -1|abs }}{{ 1 + 2|string|length }}{{ not ''|length }}"),
    ("f-unknown", "{{ 1|nosuchfilter }}"),
    ("tojson", "{{ d|tojson }}{{ u|tojson }}{{ f|tojson }}{{ n|tojson }}{{ t|tojson }}{{ [1,'a']|tojson }}", VALUES),
    ("tojson-indent", "{{ d|tojson(indent=2) }}", VALUES),
    ("tojson-indent4", "{{ {'a':[],'b':{}, 'c':[1,{'d':2}]}|tojson(indent=4) }}"),
    ("tojson-separators", "{{ {'a':[1,2]}|tojson(separators=(',', ':')) }}"),
    ("tojson-ensure-ascii", "{{ 'é😀'|tojson(ensure_ascii=true) }}{{ 'é😀'|tojson(ensure_ascii=false) }}"),
    ("tojson-sort", "{{ {'b':1,'a':{'d':1,'c':2}}|tojson(sort_keys=true) }}"),
    ("tojson-escapes", "{{ s|tojson }}", {"s": "\"\\/\u0008\u000c\n\r\t\u0001\u001f\u007f\u2028</script>"}),
    ("tojson-numbers", "{{ [1, -0.0, 1e100, 1.5e-7, 123456789012345680000.0, 0.1, 100000.0, 3.0]|tojson }}"),
    ("tojson-ctx-numbers", "{{ x|tojson }}", {"x": [1, 2.5, 1e+22, 0.0001, 1e-05, 9007199254740993, -1, 3.14]}),
    ("tojson-undefined", "{{ nope|tojson }}"),
    ("tojson-key-order", "{{ x|tojson }}", {"x": {"z": 1, "a": 2, "M": 3, "0": 4}}),
    ("tojson-nonstring-keys", "{{ {1: 'a', none: 'b', true: 'c'}|tojson }}"),
    ("tojson-in-concat", "{{ 'x' + {'a': 1}|tojson + 'y' }}"),
    ("tojson-namespace-str", "{% set ns = namespace(x='é') %}{{ ns.x|tojson }}"),
    ("m-split",
     "{{ 'a,b,c'.split(',') }}{{ 'a  b c'.split() }}{{ 'a,b,c'.split(',', 1) }}{{ 'abc'.split('x')[-1] }}"
     "{{ 'a--b'.split('--')[1] }}"),
    ("m-strip",
     "[{{ ' a '.strip() }}][{{ ' a '.lstrip() }}][{{ ' a '.rstrip() }}][{{ 'xxaxx'.strip('x') }}][{{ '\\n\\na'.lstrip('\\n') }}][{{ 'abcab'.strip('ba') }}]"),
    ("m-starts-ends", "{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith('bc') }}{{ 'abc'.startswith(('x','a')) }}"),
    ("m-case", "{{ 'aB'.upper() }}{{ 'aB'.lower() }}{{ 'hello you'.title() }}{{ 'hello'.capitalize() }}"),
    ("m-replace", "{{ 'aaa'.replace('a','b') }}{{ 'aaa'.replace('a','b',1) }}"),
    ("m-join", "{{ '-'.join(['a','b']) }}"),
    ("m-find",
     "{{ 'abc'.find('c') }}{{ 'abc'.find('z') }}{{ 'abcb'.rfind('b') }}{{ 'abcb'.count('b') }}"
     "{{ 'abc'.index('b') }}"),
    ("m-isx", "{{ '12'.isdigit() }}{{ 'ab'.isalpha() }}{{ 'a1'.isalnum() }}{{ ' '.isspace() }}{{ 'AB'.isupper() }}"),
    ("m-dict-get", "{{ d.get('x') }}{{ d.get('zz') }}{{ d.get('zz', 'dflt') }}", VALUES),
    ("m-dict-items", "{{ d.items()|list }}{{ d.keys()|list }}{{ d.values()|list }}", VALUES),
    ("m-dict-key-shadow",
     "{{ d['items'] }}{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}{{ d.get('items') }}{{ d|length }}",
     {"d": {"items": 5, "get": 6}}),
    ("m-format", "{{ '{} {1}'|string }}{{ '%d/%s' % (3, 'x') }}"),
    ("m-splitlines", "{{ 'a\\nb\\r\\nc'.splitlines() }}"),
    ("m-partition", "{{ 'a=b=c'.partition('=') }}{{ 'a=b=c'.rpartition('=') }}{{ 'a=b=c'.rsplit('=', 1) }}"),
    ("m-list-append-sandbox", "{% set l = [] %}{{ l.append(1) }}"),
    ("m-list-index", "{{ ['a','b'].index('b') }}{{ [1,2,1].count(1) }}"),
    ("m-removeprefix", "{{ 'abc'.removeprefix('a') }}{{ 'abc'.removesuffix('c') }}"),
    ("m-zfill", "{{ '7'.zfill(3) }}{{ 'a'.ljust(3) }}|{{ 'a'.rjust(3) }}"),
    ("t-defined",
     "{{ x is defined }}{{ a is defined }}{{ n is defined }}{{ d.q is defined }}{{ x is undefined }}"
     "{{ d.q is not defined }}", VALUES),
    ("t-types",
     "{% for v in [none, true, 1, 1.5, 'a', [1], {'a':1}] %}{{ v is none }} {{ v is boolean }} "
     "{{ v is integer }} {{ v is float }} {{ v is number }} {{ v is string }} {{ v is sequence }} "
     "{{ v is iterable }} {{ v is mapping }}\n{% endfor %}"),
    ("t-true-false", "{{ true is true }}{{ 1 is true }}{{ false is false }}{{ 0 is false }}"),
    ("t-odd-even", "{{ 3 is odd }}{{ 3 is even }}{{ 9 is divisibleby(3) }}{{ 9 is divisibleby 4 }}"),
    ("t-eq",
     "{{ 1 is eq 1 }}{{ 1 is equalto(1) }}{{ 2 is gt 1 }}{{ 2 is lt 1 }}{{ 2 is ne 1 }}{{ 2 is ge 2 }}"
     "{{ 1 is in [1] }}{{ 'a' is in 'abc' }}"),
    ("t-case", "{{ 'a' is lower }}{{ 'A' is upper }}{{ 'a' is sameas 'a' }}{{ none is sameas none }}"),
    ("t-callable", "{{ range is callable }}{{ 1 is callable }}{{ raise_exception is defined }}"),
    ("t-filter-test", "{{ 'upper' is filter }}{{ 'nope' is filter }}{{ 'odd' is test }}"),
    ("t-unknown", "{{ 1 is nosuchtest }}"),
    ("t-not-precedence", "{{ not a is defined }}{{ a is not none and t }}", VALUES),
    ("g-range", "{{ range(3)|list }}{{ range(1,4)|list }}{{ range(5,0,-2)|list }}"),
    ("g-dict", "{{ dict(a=1, b='x') }}{{ dict({'q': 1}, r=2)|tojson }}"),
    ("g-cycler", "{% set c = cycler('a','b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}"),
    ("g-joiner", "{% set j = joiner(', ') %}{% for i in [1,2,3] %}{{ j() }}{{ i }}{% endfor %}"),
    ("g-raise", "{{ raise_exception('bad: ' ~ 1) }}"),
    ("g-raise-not-reached", "{% if false %}{{ raise_exception('no') }}{% endif %}ok"),
    ("g-strftime",
     "{{ strftime_now('%Y-%m-%d') }} {{ strftime_now('%d %b %Y') }} {{ strftime_now('%B %d, %Y') }} "
     "{{ strftime_now('%A %H:%M:%S %p %I') }} {{ strftime_now('%%') }}"),
    # filters of numbers
    ("f-abs-kinds", "{{ -3.5|abs }} {{ true|abs }} {{ 0|abs }} {{ (-7)|abs }}"),
    ("f-abs-text", "{{ 'a'|abs }}"),
    ("f-abs-undefined", "{{ nope|abs }}"),
    ("f-int-texts",
     "{{ ' 12 '|int }} {{ '1_000'|int }} {{ '-7'|int }} {{ '+7'|int }} {{ '--7'|int(1) }} {{ '1e3'|int }} "
     "{{ ''|int }} {{ '1__0'|int(5) }} {{ '_1'|int }} {{ '-'|int(2) }} {{ '0x1f'|int(9) }}"),
    ("f-int-bases",
     "{{ '0x1F'|int(base=16) }} {{ '1f'|int(0, 16) }} {{ '0b11'|int(0, 2) }} {{ '0o17'|int(0, 8) }} "
     "{{ '0x1f'|int(0, 0) }} {{ '17'|int(0, 8) }} {{ 'zz'|int(default=3, base=36) }} {{ '12'|int(7, 2) }} "
     "{{ '-0xA'|int(0, 16) }} {{ '42'|int(0, 0) }}"),
    ("f-int-kinds", "{{ none|int }} {{ []|int(5) }} {{ true|int }} {{ -2.9|int }} {{ {}|int }}"),
    ("f-int-undefined", "{{ nope|int }}"),
    ("f-float-texts",
     "{{ '2.5e3'|float }} {{ 'x'|float(1.5) }} {{ 'x'|float(default=2) }} {{ '.5'|float }} {{ '5.'|float }} "
     "{{ '1_0.5'|float }} {{ '-inf'|float }} {{ 'Infinity'|float }} {{ ' 1 '|float }} {{ '1e'|float }} "
     "{{ '+1.5'|float }} {{ '--1'|float }} {{ ''|float }}"),
    ("f-float-kinds", "{{ none|float }} {{ 7|float }} {{ true|float }} {{ []|float(3) }}"),
    ("f-float-undefined", "{{ nope|float }}"),
    ("f-round-forms",
     "{{ 2.5|round }} {{ 3.5|round }} {{ -2.5|round }} {{ 2.567|round(1) }} {{ 1234.5|round(-2) }} "
     "{{ 5|round }} {{ 2.1|round(0, 'ceil') }} {{ 2.9|round(0, 'floor') }} {{ 2.123|round(2, 'ceil') }} "
     "{{ 2.127|round(precision=2, method='floor') }} {{ 2.675|round(2) }} {{ 1e300|round(3) }} "
     "{{ 1.5|round(320) }} {{ 15|round(-1) }} {{ 7|round(0, 'ceil') }} {{ 1.5|round(-400) }}"),
    ("f-round-method", "{{ 1|round(0, 'up') }}"),
    ("f-round-text", "{{ 'a'|round }}"),
    ("f-round-undefined", "{{ nope|round }}"),
    # filters of text
    ("f-case-unicode",
     "{{ x|upper }}|{{ x|lower }}|{{ x|capitalize }}|{{ x|title }}",
     {"x": "straße ﬁn İı ΑΣ ΣΑΣ ⅷ ꭰ žŽ o'neil x-ray (abc) [d] {e} <f>g a1b"}),
    ("f-case-numbers",
     "{{ 12|upper }}{{ none|upper }}{{ true|lower }}{{ [1, 'A']|lower }}{{ nope|upper }}|{{ 'ßa'|capitalize }}"
     "{{ 'éA'|capitalize }}"),
    ("f-trim-forms",
     "[{{ 12|trim }}][{{ nope|trim }}][{{ ' a '|trim(none) }}][{{ 'abcba'|trim('ab') }}][{{ '\\t\\n\u3000x\u2003'|trim }}][{{ 'ééaé'|trim(chars='é') }}][{{ ' a '|trim('') }}]"),
    ("f-trim-number", "{{ 'a'|trim(1) }}"),
    ("f-string-kinds",
     "{{ 1.0|string }}{{ {'a': 1}|string }}{{ nope|string }}|{{ ('<b>'|safe|string) is escaped }}"
     "{{ (1|string) is string }}"),
    ("f-safe-kinds",
     "{{ 1|safe }}{{ ('a'|safe) is escaped }}{{ '<b>'|safe ~ '<' }}{{ '<' ~ ('<b>'|safe) }}"
     "{{ '<b>'|safe + '<' }}{{ '<' + ('<b>'|safe) }}"),
    ("f-escape-kinds",
     "{{ '<'|e|e }}{{ '<'|escape ~ '>' }}{{ 1|e }}{{ none|e }}{{ '<b>'|safe|e }}{{ ('x'|e) is escaped }}"
     "{{ [1, '<']|e }}"),
    ("f-forceescape",
     "{{ '<'|e|forceescape }}{{ '<&>'|forceescape }}{{ '<b>'|safe|forceescape }}{{ 5|forceescape }}"),
    ("f-markup-kept",
     "{{ ('<b>'|safe|upper) is escaped }}{{ ('<b>'|safe|trim) is escaped }}{{ ('<b>'|safe)[0] is escaped }}"
     "{{ ('<b>'|safe)[1:] is escaped }}{{ ('<b>'|safe|lower) is escaped }}{{ ('<b>'|safe|title) is escaped }}"
     "{{ ('<b>'|safe|capitalize) is escaped }}{{ ('<b>'|safe|reverse) is escaped }}"
     "{{ ('<b>'|safe * 2) is escaped }}{{ ('<b>'|safe|indent) is escaped }}{{ ('<b>'|safe).strip() is escaped }}"
     "{{ ('<b>'|safe).upper() is escaped }}{{ ('<b>'|safe|list)[0] is escaped }}"),
    ("f-markup-lost",
     "{{ ('<b>'|safe|replace('b', 'i')) is escaped }}{{ ('<b>'|safe|center(9)) is escaped }}"
     "{{ ('<b> abcdefghijk'|safe|truncate(5)) is escaped }}"
     "{{ ('a'|safe|striptags) is escaped }}{{ ('a'|safe|urlencode) is escaped }}{{ ([('a'|safe)]|join) is escaped }}"
     "{{ ('a'|safe ~ 'b') is escaped }}{{ ('a'|safe + 'b') is escaped }}"
     "{{ ('ab'|safe).replace('b', '<') is escaped }}{{ ('a'|safe).center(3) is escaped }}"
     "{{ ('a'|safe).zfill(3) is escaped }}"
     "{{ ('a'|safe|first) is escaped }}{{ '<b> abcdefghijklmn'|safe|truncate(9, end='<') }}"),
    ("f-markup-formats",
     "{{ ('a'|safe).join(['<', '<b>'|safe]) }}"),
    ("f-markup-joined",
     "{{ ['<', '<b>'|safe]|join('&') }}|{{ ['<', '>']|join('&'|safe) }}|{{ ['<', 1]|join }}|"
     "{{ ('-'|safe).join(['<', 'a']) }}"),
    ("f-replace-forms",
     "{{ 'abc'|replace('', '-') }}{{ 'aaa'|replace('a', 'b', 0) }}{{ 'aaa'|replace('a', 'b', count=1) }}"
     "{{ 12321|replace(2, 0) }}{{ 'aaa'|replace('a', 'b', none) }}{{ 'aaa'|replace('a', 'b', -1) }}"
     "{{ nope|replace('a', 'b') }}|{{ 'a.b'|replace('.', '\\n') }}"),
    ("f-replace-few", "{{ 'a'|replace('a') }}"),
    ("f-indent-forms",
     "{{ 'a\\nb'|indent }}|{{ 'a\\nb'|indent(width=1) }}|{{ 'a\\nb'|indent('> ') }}|"
     "{{ 'a\\n\\nb\\n'|indent(2, true, true) }}|{{ 'a\\r\\nb'|indent(1) }}|{{ ''|indent(2, true) }}|"
     "{{ 'a\\n'|indent(2) }}|{{ 'a\\nb'|indent(0) }}|{{ 'a\\nb'|indent(-3) }}|"
     "{{ '\\na'|indent(2, first=true) }}|"),
    ("f-indent-undefined", "{{ nope|indent }}"),
    ("f-indent-number", "{{ 5|indent }}"),
    ("f-center-forms",
     "[{{ 'ab'|center(5) }}][{{ 'abc'|center(6) }}][{{ 'abcdef'|center(3) }}][{{ 'é'|center(width=4) }}][{{ 12|center(5) }}]{{ ('a'|center)|length }}"),
    ("f-truncate-forms",
     "{{ 'abcdefghij'|truncate(5, true) }}|{{ 'abc def ghi jkl mno'|truncate(9) }}|"
     "{{ 'abc def ghi jkl mno'|truncate(9, killwords=true) }}|{{ 'abc def ghi jkl mno'|truncate(9, end='~') }}|"
     "{{ 'abcdefghij'|truncate(8) }}|{{ 'abcdefghij'|truncate(8, leeway=0) }}|"
     "{{ 'äöüäöüäöüäöü'|truncate(6, true, '…', 0) }}|{{ 'short'|truncate }}|{{ 'abcdefghijklmnop'|truncate(5) }}"),
    ("f-truncate-short", "{{ 'abcdefghijkl'|truncate(2) }}"),
    ("f-truncate-number", "{{ 5|truncate(3) }}"),
    ("f-truncate-leeway", "{{ 'abcdefghijkl'|truncate(5, leeway=-1) }}"),
    ("f-wordcount-forms",
     "{{ \"it's a_b c-d é日本 1.5\"|wordcount }}{{ ''|wordcount }}{{ 12|wordcount }}{{ '  '|wordcount }}"
     "{{ nope|wordcount }}"),
    ("f-format-forms",
     "{{ '%s %s'|format(1, 'b') }}{{ '%(a)s-%(b)d'|format(a='x', b=2) }}{{ '%%'|format }}{{ 'plain'|format }}"
     "{{ '%s'|format(none) }}{{ '%r'|format('a') }}"),
    ("f-format-both", "{{ '%s'|format(1, a=2) }}"),
    ("f-format-few", "{{ '%s %s'|format(1) }}"),
    ("f-format-many", "{{ '%s'|format(1, 2) }}"),
    ("f-striptags-forms",
     "{{ '<p>a <!-- c > --> b</p>\\n\\n <br/> c & d'|striptags }}|{{ 'a < b'|striptags }}|"
     "{{ 'a<b'|striptags }}|{{ '<>x'|striptags }}|{{ 12|striptags }}|{{ '<a href=\"x\">y</a>'|striptags }}|"
     "{{ 'a <!-- b'|striptags }}"),
    ("f-urlencode-forms",
     "{{ 'a/b?c=d&e~f-g_h.i'|urlencode }}|{{ {'a b': 'c/d', 'e': 1}|urlencode }}|{{ 12|urlencode }}|"
     "{{ '日'|urlencode }}|{{ ''|urlencode }}"),
    # tojson
    ("tojson-kinds",
     "{{ (1, 'a')|tojson }}{{ []|tojson }}{{ {}|tojson }}{{ [[], {}]|tojson(indent=1) }}{{ '<b>'|safe|tojson }}"
     "{{ 1|tojson }}{{ none|tojson }}{{ 'x'|tojson }}{{ true|tojson }}{{ 2.0|tojson }}"),
    ("tojson-not-finite", "{{ ['inf'|float, '-inf'|float, 'nan'|float]|tojson }}"),
    ("tojson-indents",
     "{{ {'a': [1]}|tojson(indent='--') }}{{ {'a': 1}|tojson(indent=0) }}{{ {'a': 1}|tojson(indent=none) }}"
     "{{ {'a': 1}|tojson(indent=-1) }}{{ [1, 2]|tojson(false, 1) }}"),
    ("tojson-ascii-forms",
     "{{ 'é日😀\\x7f\\x80'|tojson(true) }}{{ 'é'|tojson(ensure_ascii=1) }}{{ {'é': 'ß'}|tojson(true) }}"),
    ("tojson-separators-forms",
     "{{ {'a': [1, 2]}|tojson(separators=(';', '=')) }}{{ [1, 2]|tojson(separators=none) }}"
     "{{ {'a': [1, 2]}|tojson(indent=2, separators=(',', ':')) }}"
     "{{ {'a': 1, 'b': 2}|tojson(separators=[',', ':']) }}"),
    ("tojson-separators-one", "{{ [1, 2]|tojson(separators=(',',)) }}"),
    ("tojson-sorted-keys",
     "{{ {'b': 1, 'B': 2, 'a': {'z': 1, 'y': [{'d': 1, 'c': 2}]}, 'é': 3}|tojson(sort_keys=true) }}"
     "{{ {2: 'a', 1: 'b'}|tojson(sort_keys=true) }}"),
    ("tojson-sorted-mixed", "{{ {1: 'a', 'b': 2}|tojson(sort_keys=true) }}"),
    ("tojson-keys", "{{ {1.5: 1, false: 2, 7: 3, none: 4}|tojson }}"),
    ("tojson-tuple-key", "{{ {(1, 2): 3}|tojson }}"),
    ("tojson-range", "{{ range(3)|tojson }}"),
    ("tojson-view", "{{ {'a': 1}.items()|tojson }}"),
    ("tojson-generator", "{{ [1]|map('string')|tojson }}"),
    ("tojson-namespace", "{{ namespace(a=1)|tojson }}"),
    ("tojson-macro", "{% macro m() %}{% endmacro %}{{ m|tojson }}"),
    ("tojson-unknown-argument", "{{ 1|tojson(nope=1) }}"),
    # filters of sequences
    ("f-length-kinds",
     "{{ range(4)|length }}{{ (1, 2)|length }}{{ nope|length }}{{ {'a': 1}.keys()|length }}{{ ''|count }}"),
    ("f-length-number", "{{ 5|length }}"),
    ("f-length-none", "{{ none|length }}"),
    ("f-length-generator", "{{ [1]|select|length }}"),
    ("f-default-forms",
     "{{ nope|d('x') }}{{ 0|d('y', true) }}{{ 0|d('y') }}{{ nope|default }}|{{ {}.a|default('z') }}"
     "{{ none|d('q', boolean=true) }}{{ false|default(default_value='f', boolean=true) }}{{ [0]|d('no', true) }}"),
    ("f-first-last-kinds",
     "{{ 'éa'|first }}{{ 'aé'|last }}{{ {'a': 1, 'b': 2}|first }}{{ {'a': 1, 'b': 2}|last }}{{ range(3)|first }}"
     "{{ range(3)|last }}{{ [1, 2]|select|first }}[{{ ''|first }}{{ []|last }}{{ []|select|first }}"
     "{{ nope|first }}]{{ (3, 4)|last }}"),
    ("f-last-generator", "{{ [1]|select|last }}"),
    ("f-last-undefined", "{{ nope|last }}"),
    ("f-last-number", "{{ 5|last }}"),
    ("f-first-number", "{{ 5|first }}"),
    ("f-first-then-rest", "{% set g = [1, 2, 3]|select %}{{ g|first }}{{ g|list }}{{ g|list }}"),
    ("f-reverse-kinds",
     "{{ 'aé😀'|reverse }}{{ (1, 2)|reverse|list }}{{ {'a': 1, 'b': 2}|reverse|list }}{{ range(3)|reverse|list }}"
     "{{ [1, 2]|select|reverse|list }}{{ ''|reverse }}"),
    ("f-reverse-number", "{{ 5|reverse }}"),
    ("f-reverse-undefined", "{{ nope|reverse|list }}"),
    ("f-list-kinds", "{{ 'é😀'|list }}{{ (1, 2)|list }}{{ range(2)|list }}{{ nope|list }}{{ {'a': 1}.items()|list }}"),
    ("f-list-number", "{{ 5|list }}"),
    ("f-list-none", "{{ none|list }}"),
    ("f-join-forms",
     "{{ [1, 2]|join }}{{ [1, 2]|join(d='+') }}{{ [{'a': {'b': 1}}, {'a': {'b': 2}}]|join(',', 'a.b') }}"
     "{{ ['x', 'y']|join(1) }}{{ [nope, 1]|join('-') }}{{ {'k': 1, 'l': 2}|join(',') }}{{ []|join(',') }}|"
     "{{ [['a', 'b'], ['c', 'd']]|join('', 1) }}"),
    ("f-join-number", "{{ 5|join }}"),
    ("f-sort-forms",
     "{{ ['b', 'A', 'a', 'B']|sort }}{{ ['b', 'C', 'a']|sort(case_sensitive=true) }}{{ [3, 1, 2]|sort(true) }}"
     "{{ [[2, 'a'], [1, 'b'], [2, 'c']]|sort(attribute=0) }}"
     "{{ [{'a': {'b': 2}}, {'a': {'b': 1}}]|sort(attribute='a.b') }}{{ 'hello'|sort }}"
     "{{ {'b': 1, 'a': 2}|sort }}{{ [[1, 'x'], [1, 'y'], [0, 'z']]|sort(attribute='0', reverse=true) }}"
     "{{ [2, 1.5, true]|sort }}{{ [(2, 1), (1, 2)]|sort }}"),
    ("f-sort-mixed", "{{ [1, 'a']|sort }}"),
    ("f-sort-undefined-key", "{{ [{'a': 1}, {}]|sort(attribute='a') }}"),
    ("f-sort-number", "{{ 5|sort }}"),
    ("f-unique-forms",
     "{{ ['a', 'A', 'b', 'a']|unique|list }}{{ ['a', 'A']|unique(true)|list }}"
     "{{ [1, 1.0, true, 2]|unique|list }}"
     "{{ [{'r': 1, 's': 2}, {'r': 1, 's': 3}]|unique(attribute='r')|map(attribute='s')|list }}"
     "{{ 'hello'|unique|join }}"),
    ("f-unique-lists", "{{ [[1], [1]]|unique|list }}"),
    ("f-min-max-forms",
     "{{ ['b', 'A']|min }}{{ ['b', 'A', 'C']|max }}{{ ['b', 'A']|min(case_sensitive=true) }}"
     "{{ ['b', 'A']|max(true) }}{{ [{'a': 2}, {'a': 1}]|min(attribute='a') }}"
     "{{ [{'a': 2}, {'a': 1}]|max(attribute='a') }}[{{ []|min }}{{ []|max }}]{{ [1, 1.0]|max }}{{ 'hello'|max }}"
     "{{ [[1, 2], [1, 1]]|min }}{{ [2, 9, 4]|max }}{{ [2, 1, 4]|min }}"),
    ("f-min-mixed", "{{ [1, 'a']|min }}"),
    ("f-max-undefined", "{{ [{'a': 1}, {}]|max(attribute='a') }}"),
    ("f-sum-forms",
     "{{ [1, 2.5]|sum }}{{ []|sum }}{{ [1, 2]|sum(start=10) }}{{ [[1], [2]]|sum(start=[]) }}"
     "{{ [{'a': 1}, {'a': 2}]|sum('a') }}{{ [{'a': 1}, {'a': 2}]|sum(attribute='a', start=0.5) }}"
     "{{ [[1, 5], [2, 6]]|sum(1) }}"),
    ("f-sum-texts", "{{ ['a']|sum }}"),
    ("f-batch-forms",
     "{{ [1, 2, 3, 4, 5]|batch(2)|list }}{{ [1, 2, 3]|batch(2, 0)|list }}{{ [1, 2]|batch(2, 'x')|list }}"
     "{{ []|batch(3)|list }}{{ 'abc'|batch(linecount=2, fill_with='-')|list }}"),
    ("f-slice-forms",
     "{{ [1, 2, 3, 4, 5]|slice(3)|list }}{{ [1, 2, 3, 4, 5]|slice(3, 'x')|list }}{{ [1]|slice(2)|list }}"
     "{{ [1, 2, 3, 4]|slice(slices=2, fill_with=0)|list }}{{ 'abc'|slice(2)|list }}"),
    # filters with names of others, filters of maps
    ("f-map-forms",
     "{{ ['a', 'b']|map('replace', 'a', 'c')|list }}{{ [[1, 2], [3]]|map('join', '-')|list }}"
     "{{ [{'a': {'b': 1}}]|map(attribute='a.b')|list }}{{ [[1, 2], [3, 4]]|map(attribute=1)|list }}"
     "{{ [1.26, 2.34]|map('round', precision=1)|list }}{{ ['x']|map('default', 'y')|list }}"
     "{{ [['p', 'q']]|map(attribute='0')|list }}{{ nope|map('upper')|list }}{{ 'ab'|map('upper')|list }}"
     "{{ {'a': 1}|map('upper')|join }}"),
    ("f-map-nothing", "{{ [1]|map|list }}"),
    ("f-map-unknown-filter", "{{ [1]|map('nosuch')|list }}"),
    ("f-map-unknown-argument", "{{ [1]|map(attribute='a', nope=1)|list }}"),
    ("f-map-of-undefined", "{{ [{}]|map(attribute='a.b')|list }}"),
    ("f-map-default-path", "{{ [{}, {'a': {'b': 3}}]|map(attribute='a.b', default='-')|list }}"),
    ("f-map-number", "{{ 5|map('upper')|list }}"),
    ("f-select-forms",
     "{{ range(7)|select('divisibleby', 3)|list }}{{ [1, 'a', none]|select('string')|list }}"
     "{{ [1, none]|reject('none')|list }}{{ range(4)|reject('==', 2)|list }}{{ ['', 'a']|reject|list }}"
     "{{ range(4)|select('in', [1, 2])|list }}{{ 'abc'|select('ne', 'b')|join }}{{ nope|select|list }}"),
    ("f-select-symbols",
     "{{ range(5)|select('<', 2)|list }}{{ range(5)|select('<=', 2)|list }}{{ range(5)|select('>', 2)|list }}"
     "{{ range(5)|select('>=', 2)|list }}{{ range(5)|select('==', 2)|list }}{{ range(5)|select('!=', 2)|list }}"),
    ("f-select-words",
     "{{ range(5)|select('lt', 2)|list }}{{ range(5)|select('lessthan', 2)|list }}"
     "{{ range(5)|select('le', 2)|list }}{{ range(5)|select('gt', 2)|list }}"
     "{{ range(5)|select('greaterthan', 2)|list }}{{ range(5)|select('ge', 2)|list }}"
     "{{ range(5)|select('eq', 2)|list }}{{ range(5)|select('equalto', 2)|list }}"
     "{{ range(5)|select('ne', 2)|list }}"),
    ("f-select-unknown-test", "{{ [1]|select('nosuch')|list }}"),
    ("f-selectattr-forms",
     "{{ [{'a': {'b': 1}}, {'a': {'b': 0}}]|selectattr('a.b')|list }}{{ [[1, 2], [0, 3]]|selectattr(0)|list }}"
     "{{ [{'n': 5}, {'n': 9}]|selectattr('n', 'gt', 6)|map(attribute='n')|list }}"
     "{{ [{'n': 5}, {}]|rejectattr('n')|list }}{{ [{'n': 5}, {}]|rejectattr('n', 'undefined')|list }}"
     "{{ [{'n': 'x'}]|rejectattr('n', 'string')|list }}"),
    ("f-selectattr-nothing", "{{ [1]|selectattr|list }}"),
    ("f-items-forms", "{{ {'a': 1, 'b': [2]}|items|list }}{{ {}|items|list }}"),
    ("f-items-list", "{{ [1]|items|list }}"),
    ("f-dictsort-forms",
     "{{ {'b': 2, 'A': 3, 'c': 1}|dictsort }}{{ {'b': 2, 'A': 3, 'c': 1}|dictsort(true) }}"
     "{{ {'b': 2, 'A': 3, 'c': 1}|dictsort(false, 'value') }}{{ {'b': 2, 'A': 3}|dictsort(reverse=true) }}"
     "{{ {'x': 'b', 'y': 'A', 'z': 'a'}|dictsort(by='value') }}"
     "{{ {'x': 'b', 'y': 'A'}|dictsort(by='value', case_sensitive=true) }}{{ {}|dictsort }}"),
    ("f-dictsort-by", "{{ {}|dictsort(by='nope') }}"),
    ("f-dictsort-list", "{{ [1]|dictsort }}"),
    ("f-dictsort-undefined", "{{ nope|dictsort }}"),
    ("f-groupby-forms",
     "{% for k, v in x|groupby('a') %}{{ k }}={{ v|map(attribute='b')|join(',') }};{% endfor %}"
     "{% for g in x|groupby('a', case_sensitive=true) %}{{ g[0] }}{{ g[1]|length }};{% endfor %}"
     "{% for g in [{'a': 1}, {}]|groupby('a', default=0) %}{{ g }}{% endfor %}"
     "{% for k, v in [[2, 'x'], [1, 'y'], [2, 'z']]|groupby(0) %}{{ k }}{{ v }}{% endfor %}",
     {"x": [{"a": "x", "b": 1}, {"a": "Y", "b": 2}, {"a": "X", "b": 3}, {"a": "y", "b": 4}]}),
    ("f-attr-forms",
     "{{ 'ab'|attr('upper')() }}[{{ {'a': 1}|attr('a') }}{{ 5|attr('nope') }}]{{ namespace(q=1)|attr('q') }}"
     "{{ {'a': 1}|attr('items')()|list }}"),
    ("f-attr-undefined", "{{ nope|attr('x') }}"),
    ("f-unknown-argument", "{{ 'a'|upper(1) }}"),
    ("f-missing-argument", "{{ [1]|batch|list }}"),
    ("f-two-values", "{{ 'a'|default('b', default_value='c') }}"),
    # methods of str
    ("m-case-unicode",
     "{{ x.upper() }}|{{ x.lower() }}|{{ x.title() }}|{{ x.capitalize() }}|{{ x.swapcase() }}|{{ 'ŉǆ'.upper() }}",
     {"x": "straße ﬁn İı ΑΣ ΣΑΣ. ⅷ žŽ o'neil x-ray they're 3rd"}),
    ("m-strip-forms",
     "[{{ 'aébé'.rstrip('é') }}][{{ 'xxax'.lstrip('x') }}][{{ '\u3000 a \\x1c'.strip() }}][{{ ' a '.strip(none) }}][{{ 'abc'.strip('') }}][{{ 'éé'.strip('é') }}][{{ 'aXa'.strip('a').lower() }}]"),
    ("m-split-forms",
     "{{ ' a  b '.split() }}{{ ' a  b c '.split(none, 1) }}{{ 'a b c'.rsplit(none, 1) }}"
     "{{ ' a b\u3000c '.rsplit() }}{{ 'a,b,,c'.split(',') }}{{ 'a,b,c'.rsplit(',', 1) }}"
     "{{ 'a,b,c'.rsplit(',') }}{{ 'abc'.split('abc') }}{{ ''.split() }}{{ ''.split(',') }}"
     "{{ 'a,b'.split(',', 0) }}{{ 'a,b,c'.split(sep=',', maxsplit=1) }}{{ 'aébéc'.rsplit('é', 1) }}"
     "{{ '   '.split() }}{{ 'a b'.split(none, 0) }}{{ ' x é y '.rsplit(none, 2) }}"),
    ("m-split-empty", "{{ 'a'.split('') }}"),
    ("m-rsplit-empty", "{{ 'a'.rsplit('') }}"),
    ("m-splitlines-forms",
     "{{ 'a\\nb\\r\\nc\\rd\\x0be\\x0cf\\x1cg\\x85h\\u2028i\\u2029'.splitlines() }}"
     "{{ 'a\\nb\\r\\n'.splitlines(true) }}{{ ''.splitlines() }}{{ '\\n'.splitlines(keepends=true) }}"
     "{{ 'a\\n\\nb'.splitlines() }}"),
    ("m-partition-forms",
     "{{ 'abc'.partition('x') }}{{ 'abc'.rpartition('x') }}{{ 'a--b--c'.partition('--') }}"
     "{{ 'a--b--c'.rpartition('--')[0] }}{{ ''.partition('a') }}"),
    ("m-partition-empty", "{{ 'a'.partition('') }}"),
    ("m-rpartition-empty", "{{ 'a'.rpartition('') }}"),
    ("m-replace-forms",
     "{{ 'abc'.replace('', '-') }}{{ 'aaa'.replace('a', 'b', 0) }}{{ 'aaa'.replace('a', 'bb', 2) }}"
     "{{ 'aXbX'.replace('X', '') }}{{ 'ab'.replace('', '-', 2) }}{{ 'aaa'.replace('aa', 'b') }}"),
    ("m-join-forms",
     "{{ ', '.join('abc') }}{{ ''.join([]) }}|{{ '-'.join({'a': 1, 'b': 2}) }}{{ '+'.join(('x', 'y')) }}"
     "{{ ','.join(['a', 'b']|map('upper')) }}"),
    ("m-join-numbers", "{{ ','.join([1, 2]) }}"),
    ("m-join-number", "{{ ','.join(5) }}"),
    ("m-find-forms",
     "{{ 'abcabc'.find('c', 3) }}{{ 'abcabc'.find('a', 1, 3) }}{{ 'éaéa'.find('a') }}{{ 'éaéa'.rfind('a') }}"
     "{{ 'éaéa'.find('a', 2) }}{{ 'abc'.find('') }}{{ 'abc'.find('c', -1) }}{{ 'abc'.rfind('a', -2) }}"
     "{{ 'abcabc'.index('b', 2) }}{{ 'abcabc'.rindex('b') }}{{ 'abc'.rindex('c', 0, 3) }}"
     "{{ 'abc'.find('a', none, 2) }}{{ 'abc'.rfind('') }}"),
    ("m-index-missing", "{{ 'abc'.index('z') }}"),
    ("m-rindex-missing", "{{ 'abc'.rindex('z') }}"),
    ("m-count-forms",
     "{{ 'aaaa'.count('aa') }}{{ 'abab'.count('b', 2) }}{{ 'abc'.count('') }}{{ 'abab'.count('a', 0, 2) }}"
     "{{ 'é'.count('') }}{{ 'abab'.count('a', -2) }}"),
    ("m-startswith-forms",
     "{{ 'abc'.startswith('b', 1) }}{{ 'abc'.startswith('a', 0, 0) }}{{ 'abc'.startswith('') }}"
     "{{ 'abc'.endswith(('x', 'c')) }}{{ 'abc'.endswith('b', 0, 2) }}{{ 'abc'.endswith('') }}"
     "{{ 'éa'.startswith('a', 1) }}{{ 'abc'.startswith(()) }}{{ 'abc'.endswith('x') }}"
     "{{ 'abc'.startswith('bc') }}{{ 'abc'.endswith('c', -1) }}"),
    ("m-startswith-list", "{{ 'a'.startswith(['a']) }}"),
    ("m-endswith-number", "{{ 'a'.endswith(1) }}"),
    ("m-startswith-undefined", "{{ 'a'.startswith(nope) }}"),
    ("m-affixes",
     "{{ 'abc'.removeprefix('x') }}{{ 'abc'.removesuffix('x') }}{{ 'aab'.removeprefix('a') }}"
     "{{ 'abb'.removesuffix('b') }}{{ 'ab'.removeprefix('ab') }}|{{ 'ab'.removesuffix('') }}"),
    ("m-justify",
     "[{{ 'ab'.ljust(4, '*') }}{{ 'ab'.rjust(4, '*') }}{{ 'ab'.center(5, '*') }}{{ 'abc'.center(6, '*') }}"
     "{{ 'ab'.center(7) }}{{ 'abc'.ljust(2) }}{{ 'é'.rjust(3, '日') }}{{ 'a'.center(4, 'é') }}]"),
    ("m-justify-fill", "{{ 'a'.ljust(4, 'ab') }}"),
    ("m-zfill-forms",
     "{{ '-5'.zfill(4) }}{{ '+5'.zfill(4) }}{{ '12345'.zfill(3) }}{{ ''.zfill(2) }}{{ 'é'.zfill(3) }}"
     "{{ '--1'.zfill(5) }}"),
    ("m-isx-forms",
     "{% for x in ['', 'a', 'A', '1', 'a1', ' ', '\\n\u3000', 'aB', 'Ab1', 'é', '日', 'a b', '_', '٣', 'A1', '\\x1c'] %}"
     "{{ x.isdigit() }}{{ x.isdecimal() }}{{ x.isalpha() }}{{ x.isalnum() }}{{ x.isspace() }}{{ x.isascii() }}"
     "{{ x.isupper() }}{{ x.islower() }}\n{% endfor %}"),
    ("m-format-forms",
     "{{ '{} {}'.format(1, 'b') }}{{ '{1}{0}{1}'.format('a', 'b') }}{{ '{x}-{y}'.format(x=1, y=none) }}"
     "{{ '{{}}{}'.format([1]) }}{{ ''.format() }}{{ 'é{}'.format('é') }}"),
    ("m-format-few", "{{ '{} {}'.format(1) }}"),
    ("m-format-open", "{{ 'a{'.format() }}"),
    ("m-format-close", "{{ 'a}'.format() }}"),
    ("m-format-name", "{{ '{x}'.format(y=1) }}"),
    ("m-format-unclosed", "{{ '{x'.format(x=1) }}"),
    # methods of lists, maps and others
    ("m-list-forms",
     "{{ [1, 2, 1].count(1) }}{{ (1, 2, 1).count(1) }}{{ (1, 2).index(2) }}{{ range(5).index(3) }}"
     "{{ range(5).count(9) }}{{ [1, 1.0, true].count(1) }}{{ [1, 2].copy() }}{{ ['a', [1]].index([1]) }}"),
    ("m-list-index-missing", "{{ [1].index(2) }}"),
    ("m-tuple-copy", "[{{ (1, 2).copy }}]"),
    ("m-tuple-append", "{{ (1, 2).append(3) }}"),
    ("m-dict-forms",
     "{{ {'a': 1}.copy() }}{{ {1: 'x'}.get(1.0) }}{{ {'a': none}.get('a', 5) }}{{ {}.get(none, 'n') }}"
     "{{ {'a': 1}.keys()|first }}{{ {'a': 1, 'b': 2}.values()|sum }}{{ {'a': 1}.items()|list }}"
     "{{ {(1, 2): 3}.get((1, 2)) }}"),
    ("m-dict-get-list", "{{ {}.get([1]) }}"),
    ("m-dict-get-nothing", "{{ {}.get() }}"),
    ("m-dict-of-same-name", "{{ {'keys': 1}.keys() }}{{ {'values': 1}['values'] }}{{ {'other': 1}.other }}"),
    ("m-list-extend", "{{ [1].extend([2]) }}"),
    ("m-list-insert", "{{ [1].insert(0, 2) }}"),
    ("m-list-remove", "{{ [1].remove(1) }}"),
    ("m-list-reverse", "{{ [1].reverse() }}"),
    ("m-list-sort", "{{ [1].sort() }}"),
    ("m-dict-clear", "{{ {}.clear() }}"),
    ("m-dict-pop", "{{ {'a': 1}.pop('a') }}"),
    ("m-dict-popitem", "{{ {'a': 1}.popitem() }}"),
    ("m-dict-setdefault", "{{ {}.setdefault('a', 1) }}"),
    ("m-dict-update", "{{ {}.update({'a': 1}) }}"),
    ("m-forbidden-unread", "[{{ [].append is defined }}{{ {}.update is defined }}]"),
    ("m-none", "{{ none.upper() }}"),
    ("m-unknown", "{{ 'a'.nosuch() }}"),
    # percent formats
    ("percent-integers",
     "{{ '%d|%i|%u|%5d|%-5d|%05d|%+d|% d|%.3d' % (1, -2, 3, 4, 5, -6, 7, 8, 9) }}|{{ '%d' % 1.9 }}|"
     "{{ '%d' % true }}|{{ '%d' % -1.9 }}|{{ '%+05d' % 42 }}|{{ '%-05d|' % 42 }}"),
    ("percent-bases", "{{ '%x %X %o %08x %-6x|' % (255, 255, 8, 48879, 10) }}{{ '%x' % -255 }}"),
    ("percent-reals",
     "{{ '%f|%.2f|%8.3f|%-8.1f|%+.1f|%08.2f|%e|%.2E|%g|%G|%.3g|%F|% .1f|%.0f' % (1.5, 2.345, 3.14159, 2.5, 1.25, -1.5, 12345.678, 0.00012, 1e-7, 1e20, 1234567.0, 2.0, 3.0, 2.5) }}|"
     "{{ '%.1f' % 3 }}|{{ '%f' % true }}|{{ '%g' % 100000 }}|{{ '%g' % 1000000 }}"),
    ("percent-not-finite", "{{ '%f %.1f %e' % ('inf'|float, '-inf'|float, 'nan'|float) }}"),
    ("percent-texts",
     "{{ '%s|%5s|%-5s|%.2s|%r|%5.1s' % ('a', 'b', 'c', 'déf', \"g'h\", 'xyz') }}|{{ '%s' % none }}|"
     "{{ '%s %s' % (1.0, [1]) }}|{{ '%s' % [1, 2] }}|{{ '%s' % {'a': 1} }}|{{ '%r' % none }}|{{ '%3s' % 'é' }}"),
    ("percent-keys",
     "{{ '%(a)s %(b)05.1f %(a)r' % {'a': 'x', 'b': 2} }}{{ '%%' % () }}{{ 'plain' % {} }}"
     "{{ 'plain' % {'a': 1} }}{{ '%(a)s%%' % {'a': 1} }}"),
    ("percent-few", "{{ '%s %s' % ('a',) }}"),
    ("percent-few-one", "{{ '%s %s' % 'a' }}"),
    ("percent-many", "{{ '%s' % (1, 2) }}"),
    ("percent-many-one", "{{ 'plain' % 1 }}"),
    ("percent-no-map", "{{ '%(a)s' % 1 }}"),
    ("percent-no-key", "{{ '%(b)s' % {'a': 1} }}"),
    ("percent-key-end", "{{ '%(a' % {'a': 1} }}"),
    ("percent-end", "{{ 'a%' % 1 }}"),
    ("percent-text-number", "{{ '%d' % 'a' }}"),
    ("percent-text-real", "{{ '%f' % 'a' }}"),
    ("percent-undefined-number", "{{ '%d' % nope }}"),
    ("percent-undefined-text", "[{{ '%s' % nope }}]"),
    ("percent-hex-real", "{{ '%x' % 1.5 }}"),
    ("percent-unknown", "{{ '%y' % 1 }}"),
    ("percent-list-plain", "{{ 'plain' % [] }}"),
    # tests
    ("t-iterable-kinds",
     "{{ {}.items() is iterable }}{{ range(2) is iterable }}{{ [1]|select is iterable }}"
     "{{ namespace() is iterable }}{{ nope is iterable }}{{ none is iterable }}{{ (1,) is iterable }}"
     "{{ raise_exception is iterable }}"),
    ("t-sequence-kinds",
     "{{ {}.items() is sequence }}{{ range(2) is sequence }}{{ [1]|select is sequence }}"
     "{{ namespace() is sequence }}{{ nope is sequence }}{{ (1,) is sequence }}{{ {} is sequence }}"),
    ("t-callable-kinds",
     "{% macro m() %}{% endmacro %}{{ m is callable }}{{ 'a'.upper is callable }}{{ joiner() is callable }}"
     "{{ cycler(1) is callable }}{{ cycler(1).next is callable }}{{ namespace() is callable }}"
     "{{ 'a' is callable }}{{ nope is callable }}{{ raise_exception is callable }}"),
    ("t-escaped", "{{ 'a'|safe is escaped }}{{ ('a'|e) is escaped }}{{ 'a' is escaped }}{{ 1 is escaped }}"),
    ("t-case-forms",
     "{{ 'aB' is lower }}{{ 'aB' is upper }}{{ 'a1' is lower }}{{ '1' is lower }}{{ '1' is upper }}"
     "{{ '' is upper }}{{ 'É' is upper }}{{ 'ß' is lower }}{{ 'AB C' is upper }}{{ 1 is lower }}"),
    ("t-sameas-forms",
     "{% set a = [1] %}{{ a is sameas a }}{{ a is sameas [1] }}{{ true is sameas true }}{{ 1 is sameas true }}"
     "{{ none is sameas false }}"),
    ("t-in-forms",
     "{{ 'a' is in {'a': 1} }}{{ 3 is in range(3) }}{{ 'b' is in ('a', 'b') }}{{ 'x' is not in 'abc' }}"),
    ("t-odd-even-forms",
     "{{ -1 is odd }}{{ 0 is even }}{{ 2.0 is even }}{{ 1.5 is odd }}{{ 3.0 is odd }}{{ true is odd }}"
     "{{ 7 is divisibleby(num=7) }}"),
    ("t-odd-text", "{{ 'a' is odd }}"),
    ("t-even-none", "{{ none is even }}"),
    ("t-divisibleby-zero", "{{ 1 is divisibleby 0 }}"),
    ("t-divisibleby-nothing", "{{ 1 is divisibleby }}"),
    ("t-comparisons",
     "{{ 1 is lt 2 }}{{ 2 is lt 2 }}{{ 2 is lessthan 3 }}{{ 2 is le 2 }}{{ 3 is le 2 }}{{ 2 is gt 1 }}"
     "{{ 2 is greaterthan 2 }}{{ 2 is ge 2 }}{{ 1 is ge 2 }}{{ 1 is ne 1 }}{{ 1 is equalto 1.0 }}"),
    ("t-lt-mixed", "{{ 1 is lt 'a' }}"),
    ("t-gt-undefined", "{{ nope is gt 1 }}"),
    ("t-filter-forms",
     "{{ 'tojson' is filter }}{{ 1 is filter }}{{ 'nosuch' is test }}{{ '==' is test }}{{ 'defined' is test }}"
     "{{ none is test }}"),
    ("t-undefined-forms",
     "{{ none is undefined }}{{ nope is undefined }}{{ {}.a is undefined }}{{ [][0] is undefined }}"
     "{{ 1 is defined(2) }}"),
    ("t-boolean-values",
     "{% for v in [true, false, 1, 0, none, 'true', 1.0] %}{{ v is boolean }}{{ v is true }}{{ v is false }}"
     "{{ v is integer }}{{ v is float }}{{ v is number }}{{ v is none }} {% endfor %}"),
    ("t-mapping-kinds",
     "{{ {} is mapping }}{{ namespace() is mapping }}{{ [] is mapping }}{{ dict(a=1) is mapping }}"
     "{{ nope is mapping }}{{ 'a' is string }}{{ nope is string }}{{ ('a'|safe) is string }}"),
    # functions
    ("g-range-forms",
     "{{ range(0)|list }}{{ range(3, 1)|list }}{{ range(-2, 2)|list }}{{ range(5, 0, -1)|list }}"
     "{{ range(true)|list }}{{ range(0, 10, 4)|list }}"),
    ("g-range-zero-step", "{{ range(0, 1, 0) }}"),
    ("g-range-nothing", "{{ range() }}"),
    ("g-range-text", "{{ range('a') }}"),
    ("g-range-float", "{{ range(1.5) }}"),
    ("g-range-undefined", "{{ range(nope) }}"),
    ("g-range-named", "{{ range(stop=3) }}"),
    ("g-range-huge", "{{ range(100001)|list|length }}"),
    ("g-dict-forms",
     "{{ dict() }}{{ dict([['a', 1], ('b', 2)]) }}{{ dict({'a': 1}, a=2) }}{{ dict([['a', 1]], b=2)|length }}"
     "{{ dict(['xy']) }}"),
    ("g-dict-two", "{{ dict({}, {}) }}"),
    ("g-dict-number", "{{ dict(5) }}"),
    ("g-dict-triples", "{{ dict([[1, 2, 3]]) }}"),
    ("g-dict-list-key", "{{ dict([[[1], 2]]) }}"),
    ("g-cycler-forms",
     "{% set c = cycler(1, 2, 3) %}{{ c.current }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}"
     "{{ c.next() }}{{ c.reset() }}{{ c.current }}[{{ c.nope }}]"),
    ("g-cycler-nothing", "{{ cycler() }}"),
    ("g-joiner-forms",
     "{% set j = joiner() %}{% for i in 'ab' %}{{ j() }}{{ i }}{% endfor %}{% set k = joiner(sep='+') %}"
     "{{ k() }}{{ k() }}{{ k() }}"),
    ("g-namespace-pairs", "{{ namespace([['a', 1]]).a }}{{ namespace(a=1)['a'] }}"),
    ("g-namespace-number", "{{ namespace(5) }}"),
    ("g-raise-kinds", "{{ raise_exception(['a', 1]) }}"),
    ("g-raise-text", "a{% if true %}{{ raise_exception('Rôles: “user” 100% {x}') }}{% endif %}"),
    ("g-raise-nothing", "{{ raise_exception() }}"),
    ("g-raise-in-macro",
     "{% macro m(x) %}{{ raise_exception('no ' + x) }}{% endmacro %}{% for i in [1] %}{{ m('way') }}{% endfor %}"),
    ("g-raise-undefined", "{{ raise_exception(nope) }}"),
    ("g-raise-shadowed",
     "{% set range = 5 %}{{ range }}{{ namespace is defined }}{{ strftime_now is defined }}"
     "{{ dict is callable }}"),
    ("g-strftime-number", "{{ strftime_now(5) }}"),
    ("g-strftime-text",
     "{{ strftime_now('Today: é %d. 100') }}{{ strftime_now('') }}|{{ strftime_now('%d' ~ '%m') }}"),
    # as conversations use them
    ("u-argument-lines",
     "{% for k, v in args|items %}{{ k }}: {{ v if v is string else v|tojson }}\n{% endfor %}",
     {"args": {"city": "Zürich", "days": 3, "flags": {"a": True, "b": None}, "tags": ["x", "y"]}}),
    ("u-last-user",
     "{% set ns = namespace(at=-1) %}{% for m in messages %}{% if m.role == 'user' %}"
     "{% set ns.at = loop.index0 %}{% endif %}{% endfor %}{{ ns.at }}", TALK),
    ("u-roles-joined", "{{ messages|map(attribute='role')|unique|sort|join('/') }}", TALK),
    ("u-content-parts",
     "{% for p in parts %}{% if p is string %}{{ p }}{% elif p.type == 'text' %}{{ p.text }}"
     "{% elif p.type in ['image', 'image_url'] %}<img>{% endif %}{% endfor %}",
     {"parts": ["a", {"type": "text", "text": "b"}, {"type": "image"}]}),
    ("u-first-part",
     "{{ (parts|selectattr('type', 'equalto', 'text')|first).text }}",
     {"parts": [{"type": "image"}, {"type": "text", "text": "b"}]}),
    # str.format
    ("format-01", "{{ '{0.name} {0[name]} {x[b]} {x.a}'.format(d, x=d) }}", FORMATTED),
    ("format-02", "{{ '{!r} {!s:>5} {!a} {!r:>8}'.format(s, 1, e, 'a') }}", FORMATTED),
    ("format-03", "{{ '{!r} {!s} {!r}'.format(none, l, d) }}", FORMATTED),
    ("format-04", "{{ '{:{}}|{:>{w}}|{:{}{}}|'.format('a', 5, 'b', 'c', '<', 4, w=3) }}", FORMATTED),
    ("format-05", "{{ '{0:{1}}{0:{1}}|'.format('a', 3) }}", FORMATTED),
    ("format-06", "{{ '{m[0].role}{m[1][content]}'.format(m=messages) }}", FORMATTED),
    ("format-07", "{{ '{0.content}: {0[role]}'.format(messages[0]) }}", FORMATTED),
    ("format-08", "{{ '{0.x}|{1[9]}|{2.foo}'.format(d, l, s) }}", FORMATTED),
    ("format-09", "{{ '{0.x.y}'.format(d) }}", FORMATTED),
    ("format-10", "{{ '{0[-1]}'.format(l) }}", FORMATTED),
    ("format-11", "{{ '{0[0]}{0[1]}'.format('ab') }}", FORMATTED),
    ("format-12", "{{ '{0}{}'.format(1, 2) }}", FORMATTED),
    ("format-13", "{{ '{}{0}'.format(1, 2) }}", FORMATTED),
    ("format-14", "{{ '{}{}'.format(1) }}", FORMATTED),
    ("format-15", "{{ '{a}'.format(b=1) }}", FORMATTED),
    ("format-16", "{{ '{a.b}'.format(a={'b': 1}) }}", FORMATTED),
    ("format-17", "{{ '{!x}'.format(1) }}", FORMATTED),
    ("format-18", "{{ '{!}'.format(1) }}", FORMATTED),
    ("format-19", "{{ '{!rr}'.format(1) }}", FORMATTED),
    ("format-20", "{{ '{:{:{}}}'.format(1, 2, 3) }}", FORMATTED),
    ("format-21", "{{ '{[}'.format(l) }}", FORMATTED),
    ("format-22", "{{ '{0.}'.format(l) }}", FORMATTED),
    ("format-23", "{{ '{0[0]x}'.format(l) }}", FORMATTED),
    ("format-24", "{{ '{'.format(1) }}", FORMATTED),
    ("format-25", "{{ '}'.format(1) }}", FORMATTED),
    ("format-26", "{{ '{:#06x} {:#010b} {:+#x} {:#X} {:#o} {:b} {:b}'.format(255, 5, 255, 255, 8, -5, 0) }}", FORMATTED),
    ("format-27", "{{ '{:,}|{:15,}|{:015,}|{:015,.2f}|{:+015,}|{:*^15,}'.format(1234567, 1234567, 1234567, 1234.5, 1234567, 1234567) }}", FORMATTED),
    ("format-28", "{{ '{:012,} {:010_x} {:_b} {:_.2f}'.format(1234567, 65535, 255, 1234567.891) }}", FORMATTED),
    ("format-29", "{{ '{:,x}'.format(1) }}", FORMATTED),
    ("format-30", "{{ '{:n} {:n}'.format(1234567, 1.5) }}", FORMATTED),
    ("format-31", "{{ '{:#}'.format('a') }}", FORMATTED),
    ("format-32", "{{ '{:,}'.format('a') }}", FORMATTED),
    ("format-33", "{{ '{:d}'.format('x') }}", FORMATTED),
    ("format-34", "{{ '{:.3}|{:s}|{:2}|{:08}|{:08}'.format('abcdef', 'a', 'é', 'ab', -5) }}", FORMATTED),
    ("format-35", "{{ '{0.__class__}'.format(s) }}", FORMATTED),
    ("format-36", "{{ '{:>3}'.format(l) }}", FORMATTED),
    ("format-37", "{{ '%(role)s: %(content)s' % messages[0] }}", FORMATTED),
]

# strftime_now at other times than that of the conversations.
TIMES = ["2024-12-31T23:59:08", "2023-01-01T00:00:00", "1999-02-09T12:07:59", "2031-11-15T13:30:00"]
FIELDS = ["%Y|%y|%m|%d|%e|%H|%I|%M|%S|%j|%w", "%A|%a|%B|%b|%h|%p|%%", "%F|%T|%X|%R|%D|%x",
          "%-m|%-d|%-H|%-I|%-M|%-S|%-j|%-y", "100%"]
