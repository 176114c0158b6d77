// Which part of GitHub a request addresses, and whether a fault matches it.
export type Surface = 'rest' | 'git' | 'web' | 'control'

export type Target = {
  readonly surface: Surface
  readonly method: string
  /** Without the query; of REST requests relative to the REST root. */
  readonly path: string
}

const gitPath = /^\/[^/]+\/[^/]+\/(?:info\/refs|git-upload-pack|git-receive-pack)$/

/** The target of a request; `url` is its path and query. */
export function targetOf(method: string, url: string, restPrefix: string): Target {
  const path = url.split('?')[0] ?? ''
  if (path === '/_emulator' || path.startsWith('/_emulator/')) return { surface: 'control', method, path }
  if (path.startsWith(`${restPrefix}/`)) return { surface: 'rest', method, path: path.slice(restPrefix.length) }
  return { surface: gitPath.test(path) ? 'git' : 'web', method, path }
}

function escaped(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
}

/** Whether `path` starts with `pattern`, in which `*` stands for one segment. */
export function pathFits(pattern: string, path: string): boolean {
  return new RegExp(`^${pattern.split('*').map(escaped).join('[^/]*')}`).test(path)
}

export type Matcher = { readonly method?: string; readonly path?: string }

/** Whether a fault matches the request. No fault applies to the control API, which is needed to disarm faults. */
export function fits(matcher: Matcher, target: Target): boolean {
  return (
    target.surface !== 'control' &&
    (matcher.method === undefined || matcher.method === '' || matcher.method === target.method) &&
    pathFits(matcher.path ?? '', target.path)
  )
}
