// What the server of a static site knows. The buildpack writes it as JSON beside the server; nothing else of the image is served.

export type HeaderRule = { readonly pattern: string; readonly headers: Readonly<Record<string, string>> }
/** `target`: a file of the site, or undefined where a path without a file stays one without. */
export type RouteRule = { readonly pattern: string; readonly target: string | undefined }
export type RedirectRule = { readonly pattern: string; readonly url: string; readonly status: number }

/** Rules as in static.json (https://github.com/heroku/heroku-buildpack-static): the first route and redirect, the last headers. */
export type SiteRules = {
  readonly cleanUrls: boolean
  readonly httpsOnly: boolean
  readonly headers: readonly HeaderRule[]
  readonly routes: readonly RouteRule[]
  readonly redirects: readonly RedirectRule[]
  /** The page of status 404. */
  readonly notFound: string | undefined
}

/** A file by its path in the site, and its entity tag: a digest of its bytes, because times in an image say nothing. */
export type SiteFile = readonly [path: string, tag: string]

export type ServedSite = SiteRules & {
  /** Absolute. */
  readonly folder: string
  readonly files: readonly SiteFile[]
}
