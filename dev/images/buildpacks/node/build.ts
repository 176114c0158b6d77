// The build phase in order: read package.json, install its dependencies, set the start command of `web`. Only this file sets the exit code.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildConfig } from './config.ts'
import { installModules } from './install-modules.ts'
import { parsePackageDescription } from './package-description.ts'
import { decideStart, launchDescription } from './start-command.ts'

const succeeded = 0
const failed = 1

/** Returns the exit code. Its output is for the app's owner and becomes part of the build log. */
export function runBuild(config: BuildConfig): number {
  const say = (line: string): void => console.log(`sekisho/node: ${line}`)
  const parsed = parsePackageDescription(readFileSync(join(config.appFolder, 'package.json'), 'utf8'))
  if (!parsed.ok) {
    say(parsed.problem)
    return failed
  }
  const start = decideStart(parsed.description, path => existsSync(join(config.appFolder, path)))
  if (!start.ok) {
    say(start.problem)
    return failed
  }
  try {
    if (parsed.description.hasDependencies) installModules(config, say)
  } catch (error) {
    say(`installing the dependencies failed (see npm's output above): ${error instanceof Error ? error.message : String(error)}`)
    return failed
  }
  writeFileSync(join(config.layersFolder, 'launch.toml'), launchDescription(start.command))
  say(`web starts with: ${start.command.join(' ')}`)
  return succeeded
}
