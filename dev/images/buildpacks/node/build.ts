// The build phase in order: read package.json, install the packages, run the build script, remove what only the build needed,
// say how the processes start.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext, Environment } from '../shared/config.ts'
import { launchDescription, type Process, writeLaunchLayer } from '../shared/launch.ts'
import { parseProcfile } from '../shared/procfile.ts'
import { runProgram } from '../shared/run-program.ts'
import { describeSite, findSite, serveSite } from '../shared/static-site/find-site.ts'
import { checkEngine, otherVersionWanted } from './engines.ts'
import { type PackageDescription, parsePackageDescription } from './package-description.ts'
import { choosePackageManager, type PackageManager } from './package-manager.ts'
import { findProcesses, missingFile } from './start-command.ts'

/** They run at every install, and may use packages that only the development needs. */
const installScripts = ['preinstall', 'install', 'postinstall', 'prepare']

/** @throws BuildFailure whose message is for the app's owner */
export function buildApp(context: BuildContext): void {
  const { appFolder, environment, say } = context
  const exists = (path: string): boolean => existsSync(resolve(appFolder, path))
  const description = parsePackageDescription(readFileSync(join(appFolder, 'package.json'), 'utf8'))
  const version = process.versions.node
  checkEngine(description.nodeRange, version, environment['PATH'] ?? '')
  say(`Node.js ${version}`)
  const other = description.nodeRange === undefined ? otherVersionWanted(appFolder, version) : undefined
  if (other !== undefined) say(`${other}; this builder has ${version}`)
  const procfile = exists('Procfile')
    ? parseProcfile(readFileSync(join(appFolder, 'Procfile'), 'utf8'))
    : new Map<string, string>()

  installAndBuild(context, description, choosePackageManager(description, exists))

  const processes = findProcesses(description, procfile, exists) ?? siteOf(context)
  for (const { type, command } of processes) {
    const missing = missingFile(command, exists)
    if (missing !== undefined)
      throw new BuildFailure(
        `process ${type} runs ${command.join(' ')}, and there is no file ${missing}${description.scripts['build'] === undefined ? '' : ' after the build script'}: correct the command, or what creates the file`,
      )
    say(`process ${type}: ${command.join(' ')}`)
  }
  writeLaunchLayer(context.layersFolder, {
    name: 'launch',
    // npm itself runs in the image where a command needs it; the file system of a pod is read-only except for /tmp.
    defaults: { NODE_ENV: 'production', npm_config_cache: '/tmp/.npm', npm_config_update_notifier: 'false' },
    path: [join(appFolder, 'node_modules', '.bin')],
  })
  writeFileSync(
    join(context.layersFolder, 'launch.toml'),
    launchDescription(processes, exists('node_modules') ? ['node_modules'] : []),
  )
}

function siteOf(context: BuildContext): readonly Process[] {
  const site = findSite(context.appFolder)
  if (site === undefined)
    throw new BuildFailure(
      'no start command found: set scripts.start in package.json, such as "node server.js", or add a Procfile with a line "web: …"; a static site needs an index.html in the folder dist, build, out or public',
    )
  context.say(describeSite(site))
  return [serveSite(context, site)]
}

function installAndBuild(context: BuildContext, description: PackageDescription, manager: PackageManager): void {
  const { appFolder, layersFolder, say } = context
  const { scripts, hasDependencies, hasDevDependencies } = description
  const script = ['heroku-postbuild', 'build'].find(name => (scripts[name] ?? '').trim() !== '')
  const cache = join(layersFolder, 'packages')
  mkdirSync(cache, { recursive: true })
  writeFileSync(`${cache}.toml`, '[types]\ncache = true\n')
  const environment: Environment = { ...context.environment, ...manager.environment(cache), ...withTool(context, manager) }
  const run = (command: PackageManager['prune'][number], more: Readonly<Record<string, string>> = {}): void => {
    say(command.join(' '))
    runProgram({ command, folder: appFolder, environment: { ...environment, ...more } })
  }

  for (const variable of missingVariables(context)) say(`.npmrc refers to \${${variable}}, which is not a variable of this build`)
  const needsDev = hasDevDependencies && (script !== undefined || installScripts.some(name => scripts[name] !== undefined))
  const hasPackages = hasDependencies || needsDev
  if (hasPackages) {
    if (!manager.locked) say('there is no lock file, so the versions may change with every build: commit one')
    run(manager.install(needsDev))
  }
  if (script !== undefined) run(manager.run(script), { NODE_ENV: environment['NODE_ENV'] ?? 'production' })
  if (needsDev) for (const command of manager.prune) run(command)
}

/** Names in .npmrc that npm leaves as they are, so that a registry refuses the text as a token. */
function missingVariables({ appFolder, environment }: BuildContext): readonly string[] {
  const file = join(appFolder, '.npmrc')
  if (!existsSync(file)) return []
  const names = [...readFileSync(file, 'utf8').matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
  return [...new Set(names)].filter(name => environment[name] === undefined)
}

/** Installs a package manager that the image does not have; returns the PATH that contains it. */
function withTool({ layersFolder, environment, say }: BuildContext, { name, tool }: PackageManager): { readonly PATH?: string } {
  if (tool === undefined) return {}
  const folder = join(layersFolder, 'package-manager')
  const wanted = `${tool.package}@${tool.version}`
  const marker = join(folder, 'installed')
  if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) {
    say(`installing ${wanted}`)
    mkdirSync(folder, { recursive: true })
    const command = [
      'npm',
      'install',
      '--global',
      '--prefix',
      folder,
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      wanted,
    ] as const
    try {
      runProgram({ command, folder, environment })
    } catch (error) {
      if (!(error instanceof BuildFailure)) throw error
      throw new BuildFailure(
        `${name} cannot be installed as ${wanted}: correct packageManager in package.json, or use npm (${error.message})`,
      )
    }
    writeFileSync(marker, wanted)
  }
  writeFileSync(`${folder}.toml`, '[types]\ncache = true\n')
  return { PATH: `${join(folder, 'bin')}:${environment['PATH'] ?? ''}` }
}
