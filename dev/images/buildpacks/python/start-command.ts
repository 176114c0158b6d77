// The processes of a Python app: those of its Procfile, else `web` by what is installed and the conventional names. Pure: `app`
// says what there is.
import { commandOf, type Process } from '../shared/launch.ts'
import type { Procfile } from '../shared/procfile.ts'

export type PythonApp = {
  /** The text of a file, or undefined when there is none. */
  readonly read: (path: string) => string | undefined
  /** The folder with Django's manage.py, `` for the root, and the folders in it. */
  readonly django: { readonly folder: string; readonly packages: readonly string[] } | undefined
  /** Whether the packages contain a program of this name. */
  readonly hasProgram: (name: string) => boolean
}

const modules = ['app', 'main', 'wsgi', 'asgi', 'application', 'server']
const address = '0.0.0.0:$' + '{PORT:-8080}'

/**
 * Undefined when nothing says how the app starts. Order for `web`: the Procfile, gunicorn or uvicorn with the application that
 * is found, a file that runs by itself.
 */
export function findProcesses(app: PythonApp, procfile: Procfile): readonly Process[] | undefined {
  const declared = [...procfile].map(([type, line]) => ({ type, command: commandOf(line) }))
  if (procfile.has('web')) return declared
  const web = webCommand(app)
  if (web !== undefined) return [{ type: 'web', command: web }, ...declared]
  return declared.length > 0 ? declared : undefined
}

function webCommand(app: PythonApp): readonly string[] | undefined {
  const served = findApplication(app)
  if (served !== undefined) {
    const { module, name, asynchronous, folder = '' } = served
    if (asynchronous && app.hasProgram('uvicorn'))
      return ['sh', '-c', `exec uvicorn --host 0.0.0.0 --port "$\{PORT:-8080}" ${module}:${name}`]
    const within = folder === '' ? '' : `--chdir ${folder} `
    if (!asynchronous && app.hasProgram('gunicorn'))
      return ['sh', '-c', `exec gunicorn ${within}--bind ${address} ${module}:${name}`]
  }
  const file = ['main.py', 'app.py', 'server.py'].find(path => startsItself(app.read(path)))
  return file === undefined ? undefined : ['python', file]
}

type Application = { readonly module: string; readonly name: string; readonly asynchronous: boolean; readonly folder?: string }

/**
 * Django's project, else the first conventional module that makes an application of Flask, FastAPI and others at its top level.
 */
function findApplication({ read, django }: PythonApp): Application | undefined {
  const folder = django?.folder ?? ''
  const project = django?.packages.find(
    name => /^\w+$/.test(name) && read(`${folder === '' ? '' : `${folder}/`}${name}/wsgi.py`) !== undefined,
  )
  // A folder whose name a shell would read otherwise is left to the Procfile.
  if (project !== undefined && /^[\w./-]*$/.test(folder))
    return { module: `${project}.wsgi`, name: 'application', asynchronous: false, folder }
  for (const module of modules) {
    const text = read(`${module}.py`)
    const name = text === undefined ? undefined : /^(app|application)\s*(?::[^=\n]+)?=/m.exec(text)?.[1]
    if (text !== undefined && name !== undefined)
      return { module, name, asynchronous: /\b(FastAPI|Starlette|Quart|Litestar|Sanic|get_asgi_application)\s*\(/.test(text) }
  }
  return undefined
}

/** A file that calls something when it is run. A module that only defines an application ends at once. */
function startsItself(text: string | undefined): boolean {
  return text !== undefined && /__name__\s*==\s*['"]__main__['"]|\.serve_forever\(|\.run\(/.test(text)
}
