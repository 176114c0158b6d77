// The build phase in order: read package.json, install the packages, run the build script, remove what only the build needed,
// say how the processes start, and see that what they start is there.
import { writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { openAppFiles } from '../shared/app-files.ts'
import { startsByItself } from '../shared/application.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { launchDescription, type Process, writeLaunchLayer } from '../shared/launch.ts'
import { releaseType } from '../shared/procfile.ts'
import { describeSite, findSite, serveSite } from '../shared/static-site/find-site.ts'
import { checkEngine, otherVersionWanted } from './engines.ts'
import { installAndBuild } from './install.ts'
import { foldersAbove, hasInstalledProgram } from './packages.ts'
import { type NodeApp, readNodeApp } from './read-app.ts'
import { builtImage, developmentPrograms } from './starting/built-image.ts'
import { findProcesses, type Startable } from './starting/start-command.ts'
import { startProblem } from './starting/start-problem.ts'

/** @throws BuildFailure whose message is for the app's owner */
export function buildApp(context: BuildContext): void {
  const { appFolder, layersFolder, say } = context
  const app = readNodeApp(context)
  checkVersion(context, app)

  const processes = builtProcesses(context, app)
  for (const { type, command } of processes) say(`process ${type}: ${command.join(' ')}`)
  const folders = foldersAbove(app.folder)
  writeLaunchLayer(layersFolder, {
    name: 'launch',
    // npm itself runs in the image where a command needs it; the file system of a pod is read-only except for /tmp.
    defaults: { NODE_ENV: 'production', npm_config_cache: '/tmp/.npm', npm_config_update_notifier: 'false' },
    path: folders.map(folder => join(appFolder, folder, 'node_modules', '.bin')),
  })
  const modules = folders.map(folder => posix.join(folder, 'node_modules')).filter(app.files.exists)
  writeFileSync(join(layersFolder, 'launch.toml'), launchDescription(processes, { slices: modules, folder: app.folder }))
}

function checkVersion({ environment, say }: BuildContext, { own, root, files }: NodeApp): void {
  const version = process.versions.node
  const { nodeRange = root.nodeRange } = own
  checkEngine(nodeRange, version, environment['PATH'] ?? '')
  say(`Node.js ${version}`)
  const other = nodeRange === undefined ? otherVersionWanted(files.read, version) : undefined
  if (other !== undefined) say(`${other}; this builder has ${version}`)
}

/** Installs and builds: the build script may create what starts, and afterwards packages go whose programs then cannot start. */
function builtProcesses(context: BuildContext, app: NodeApp): readonly Process[] {
  const { appFolder, application, environment } = context
  const place = app.folder === '.' ? {} : { folder: join(appFolder, app.folder) }
  const own = (application.processes ?? []).flatMap(({ name, command }) =>
    command === undefined ? [] : [{ type: name, command }],
  )
  let processes: readonly Process[] = []
  let site: readonly Process[] = []
  let development: ReadonlyMap<string, string> = new Map()
  installAndBuild(context, app, () => {
    processes = findProcesses(startable(app), app.procfile) ?? []
    if (processes.every(({ type }) => type === releaseType)) site = siteOf(context, app)
    const scripts = Object.values(app.own.scripts).map(script => [script])
    development = developmentPrograms(app, [...processes, ...own].map(({ command }) => command).concat(scripts))
  })
  const image = builtImage(app, { appFolder, searchPath: environment['PATH'] ?? '' }, development)
  for (const { type, command } of processes) demand(startProblem({ type, command, folder: app.folder }, image))
  for (const { type, command } of own) demand(startProblem({ type, command, folder: app.folder }, image))
  return [...processes.map(process => ({ ...process, ...place })), ...site]
}

function demand(problem: string | undefined): void {
  if (problem !== undefined) throw new BuildFailure(problem)
}

function startable({ files, folder, own, manager }: NodeApp): Startable {
  const loaded = programsOfPage(files, posix.join(folder, 'index.html'))
  return {
    scripts: own.scripts,
    main: own.main,
    exists: path => files.exists(posix.join(folder, path)),
    hasProgram: name => hasInstalledProgram(files, folder, name),
    runsHooks: manager.runsHooks,
    isOfPage: path => loaded.includes(path.replace(/^\.\//, '')),
  }
}

/** By their paths from the page. A page that cannot be read loads none that are known. */
function programsOfPage(files: NodeApp['files'], page: string): readonly string[] {
  try {
    const text = files.read(page) ?? ''
    return [...text.matchAll(/<script\b[^>]*\bsrc\s*=\s*["']?(?:\.?\/)?([^"'\s>?]+)/gi)].map(([, path = '']) => path)
  } catch (error) {
    if (error instanceof BuildFailure) return []
    throw error
  }
}

/** Without a program that starts: a static site, or an Application that names its commands itself. */
function siteOf(context: BuildContext, { folder, own, script }: NodeApp): readonly Process[] {
  const place = { ...context, appFolder: join(context.appFolder, folder) }
  // What a build script makes is in a folder of its own; without one, the files are the site.
  const isWhole = script === undefined && (own.scripts['start'] ?? '').trim() === ''
  const site = findSite(openAppFiles(context.appFolder, folder), isWhole)
  if (site !== undefined) {
    context.say(describeSite(site))
    return [serveSite(place, site)]
  }
  if (startsByItself(context.application)) {
    context.say('no start command found: the processes of the Application have their own')
    return []
  }
  throw new BuildFailure(
    'no start command found: set scripts.start in package.json, such as "node server.js", or add a Procfile with a line "web: …", or name a command in spec.processes of the Application; a static site needs an index.html in the folder dist, build, out or public',
  )
}
