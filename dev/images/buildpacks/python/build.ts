// The build phase in order: check the version, install the packages into an environment of their own, collect Django's static
// files, say how the processes start.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAppFiles } from '../shared/app-files.ts'
import { startsByItself } from '../shared/application.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { launchDescription, writeLaunchLayer } from '../shared/launch.ts'
import { parseProcfile } from '../shared/procfile.ts'
import { collectStaticFiles, foldersIn, manageFolder } from './django.ts'
import { installPackages } from './install.ts'
import { checkVersion, installedVersion } from './python-version.ts'
import { findProcesses } from './start-command.ts'

/** Read by Python's tools as well, whose errors about an encoding name no file. */
const textFiles = ['requirements.txt', 'requirements.in', 'setup.cfg', 'setup.py', 'manage.py']

/** @throws BuildFailure whose message is for the app's owner */
export function buildApp(context: BuildContext): void {
  const { appFolder, layersFolder, say } = context
  for (const name of textFiles) openAppFiles(appFolder).read(name)
  const version = installedVersion(context)
  checkVersion(appFolder, version, say)
  say(`Python ${version}`)
  const procfile = parseProcfile(openAppFiles(appFolder).read('Procfile') ?? '')
  const packages = installPackages(context, version)
  collectStaticFiles(context, packages)
  const manage = manageFolder(appFolder)
  const found = findProcesses(
    {
      read: path => openAppFiles(appFolder).read(path),
      django: manage === undefined ? undefined : { folder: manage, packages: foldersIn(join(appFolder, manage)) },
      hasProgram: name => existsSync(join(packages, 'bin', name)),
    },
    procfile,
  )
  if (found === undefined && !startsByItself(context.application))
    throw new BuildFailure(
      'no start command found: add a Procfile with a line such as "web: gunicorn --bind 0.0.0.0:$PORT app:app", with gunicorn in requirements.txt, or name a command in spec.processes of the Application',
    )
  const processes = found ?? []
  for (const { type, command } of processes) say(`process ${type}: ${command.join(' ')}`)
  writeLaunchLayer(layersFolder, {
    name: 'launch',
    // Output appears at once, and nothing is written beside the sources, whose file system is read-only.
    defaults: { VIRTUAL_ENV: packages, PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: appFolder },
    path: [join(packages, 'bin')],
  })
  writeFileSync(join(layersFolder, 'launch.toml'), launchDescription(processes))
}
