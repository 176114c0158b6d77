// What a container gets of the texts in its manifest: the expansion of the kubelet, on bytes as there, and texts that try it.
// Source: k8s.io/kubernetes/third_party/forked/golang/expansion/expand.go, pkg/kubelet/kubelet_pods.go
// (makeEnvironmentVariables), pkg/kubelet/container/helpers.go (ExpandContainerCommandAndArgs)
import fc from 'fast-check'
import { type JsonObject, listAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'

const [operator, opener, closer] = [0x24, 0x28, 0x29]

type Read = { readonly read: Buffer; readonly isName: boolean; readonly advance: number }

/** How it reads what stands behind a `$` and begins no expression. Older kubelets take one byte for a character. */
export type Reading = 'characters' | 'bytes'

/** The bytes of the UTF-8 character that begins here. */
function lengthOf(first: number): number {
  if (first < 0x80) return 1
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
}

function readName(input: Buffer, reading: Reading): Read {
  const [first = 0] = input
  if (first === operator) return { read: input.subarray(0, 1), isName: false, advance: 1 }
  if (first === opener) {
    const end = input.indexOf(closer, 1)
    if (end > 0) return { read: input.subarray(1, end), isName: true, advance: end + 1 }
    return { read: Buffer.from('$('), isName: false, advance: 1 }
  }
  const size = reading === 'bytes' ? 1 : lengthOf(first)
  const read = reading === 'bytes' ? String.fromCharCode(first) : input.subarray(0, size).toString()
  return { read: Buffer.from(`$${read}`), isName: false, advance: size }
}

/** The text as the container gets it. A name without a value stays as it is. */
export function expand(text: string, values: ReadonlyMap<string, string>, reading: Reading = 'characters'): string {
  const input = Buffer.from(text)
  const parts: Buffer[] = []
  let checkpoint = 0
  for (let cursor = 0; cursor < input.length; cursor += 1) {
    if (input[cursor] !== operator || cursor + 1 >= input.length) continue
    const { read, isName, advance } = readName(input.subarray(cursor + 1), reading)
    const name = read.toString()
    parts.push(input.subarray(checkpoint, cursor), isName ? Buffer.from(values.get(name) ?? `$(${name})`) : read)
    cursor += advance
    checkpoint = cursor + 1
  }
  return Buffer.concat([...parts, input.subarray(checkpoint)]).toString()
}

/** What the program of a container sees. */
export type Seen = {
  readonly env: Readonly<Record<string, string>>
  readonly command: readonly string[]
  readonly args: readonly string[]
}

/** `secrets`: the values of the variables that have a source; they are never expanded. */
export function seenIn(container: JsonObject, secrets: Readonly<Record<string, string>> = {}): Seen {
  const values = new Map<string, string>()
  for (const variable of objectsAt(container, 'env')) {
    const name = textAt(variable, 'name') ?? ''
    const from = objectAt(variable, 'valueFrom')
    values.set(name, from === undefined ? expand(textAt(variable, 'value') ?? '', values) : (secrets[name] ?? ''))
  }
  const words = (field: string): string[] => listAt(container, field).map(word => expand(String(word), values))
  return { env: Object.fromEntries(values), command: words('command'), args: words('args') }
}

/** Texts of everything that the kubelet could take for an expression, with the names `SECRET` and `A`. */
export const awkwardText = fc
  .array(
    fc.oneof(
      fc.constantFrom('$', '$$', '$(', '(', ')', '$(SECRET)', '$(A)', '$A', '\\', 'é', '\u{1f600}', 'a'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 12 },
  )
  .map(parts => parts.join(''))
