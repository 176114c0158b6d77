// The secrets that a build was given: a folder for each, with one file per key
// (https://servicebinding.io/spec/core/1.1.0/#workload-projection). A key that can be the name of an environment variable
// becomes one for the programs of the build. They never become part of a layer.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/
/** What the specification says about the binding itself. */
const described: readonly string[] = ['type', 'provider']

export function bindingVariables(root: string): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {}
  if (!existsSync(root)) return variables
  for (const binding of readdirSync(root).sort()) {
    const folder = join(root, binding)
    if (!statSync(folder).isDirectory()) continue
    for (const key of readdirSync(folder)) {
      const file = join(folder, key)
      if (variableName.test(key) && !described.includes(key) && statSync(file).isFile())
        variables[key] = readFileSync(file, 'utf8').replace(/\n$/, '')
    }
  }
  return variables
}
