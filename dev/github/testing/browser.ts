// A small browser for tests: cookies per origin, redirects, forms that are filled in and sent as a user would. It runs no
// scripts and knows nothing of any page.
import { defined } from '../../../src/lib/json/defined.ts'

export type BrowserPage = {
  readonly url: string
  readonly status: number
  readonly text: string
  /** The form that has a button with this label. */
  form(button: string): BrowserForm
}

export type BrowserForm = {
  /** Values as the page filled them; several per name for checkboxes. */
  readonly fields: URLSearchParams
  readonly action: string
  readonly method: string
  /** Submits the form with its button; `change` sets fields first. */
  submit(change?: Readonly<Record<string, string | readonly string[]>>): Promise<BrowserPage>
}

export type Browser = {
  open(url: string): Promise<BrowserPage>
  /** A redirect to an address with one of these prefixes is not followed: its address is the page. */
  readonly stops: string[]
  cookies(origin: string): Readonly<Record<string, string>>
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

function unescapeText(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}="([^"]*)"`, 'i').exec(tag)?.[1]
  return found === undefined ? undefined : unescapeText(found)
}

function labelOf(markup: string): string {
  return unescapeText(markup.replace(/<[^>]*>/g, ''))
    .replace(/\s+/g, ' ')
    .trim()
}

function filledFields(form: string): URLSearchParams {
  const fields = new URLSearchParams()
  for (const [tag] of form.matchAll(/<input\b[^>]*>/gi)) {
    const name = attribute(tag, 'name')
    const type = attribute(tag, 'type') ?? 'text'
    if (name === undefined || ((type === 'checkbox' || type === 'radio') && !/\schecked\b/i.test(tag))) continue
    fields.append(name, attribute(tag, 'value') ?? '')
  }
  for (const [, tag = '', value = ''] of form.matchAll(/(<textarea\b[^>]*>)([\s\S]*?)<\/textarea>/gi)) {
    const name = attribute(tag, 'name')
    if (name !== undefined) fields.append(name, unescapeText(value))
  }
  return fields
}

/** A new browser. `fetchPage` may use its own dispatcher (a test CA); it must not follow redirects. */
export function createBrowser(fetchPage: Fetch = fetch): Browser {
  const jars = new Map<string, Map<string, string>>()
  const stops: string[] = []

  const jarOf = (url: string): Map<string, string> => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }

  const keepCookies = (url: string, response: Response): void => {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...rest] = line.split(';')
      const name = pair.slice(0, pair.indexOf('=')).trim()
      const gone = rest.some(one => /^\s*max-age=0\s*$/i.test(one) || /^\s*expires=thu, 01 jan 1970/i.test(one))
      if (gone) jarOf(url).delete(name)
      else jarOf(url).set(name, pair.slice(pair.indexOf('=') + 1))
    }
  }

  const visit = async (url: string, method: string, body: URLSearchParams | undefined, hops: number): Promise<BrowserPage> => {
    const cookie = [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetchPage(url, {
      method,
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie === '' ? {} : { cookie }) },
      ...defined({ body }),
    })
    keepCookies(url, response)
    const location = response.headers.get('location')
    const text = await response.text()
    if (response.status >= 300 && response.status < 400 && location !== null) {
      const next = new URL(location, url).toString()
      if (stops.some(stop => next.startsWith(stop))) return pageOf(next, response.status, '')
      if (hops <= 0) throw new Error(`too many redirects, the last one to ${new URL(next).origin}`)
      return visit(next, 'GET', undefined, hops - 1)
    }
    return pageOf(url, response.status, text)
  }

  const formOf = (pageUrl: string, form: string, button: string): BrowserForm => {
    const tag = /^<form\b[^>]*>/i.exec(form)?.[0] ?? ''
    const fields = filledFields(form)
    const action = new URL(attribute(tag, 'action') ?? pageUrl, pageUrl).toString()
    const method = (attribute(tag, 'method') ?? 'get').toUpperCase()
    const name = attribute(button, 'name')
    if (name !== undefined) fields.append(name, attribute(button, 'value') ?? '')
    return {
      fields,
      action,
      method,
      submit: (change = {}) => {
        for (const [field, value] of Object.entries(change)) {
          fields.delete(field)
          for (const one of [value].flat()) fields.append(field, one)
        }
        if (method === 'POST') return visit(action, 'POST', fields, 20)
        return visit(`${action.split('?')[0]}?${fields.toString()}`, 'GET', undefined, 20)
      },
    }
  }

  const pageOf = (url: string, status: number, text: string): BrowserPage => ({
    url,
    status,
    text,
    form: label => {
      for (const [form] of text.matchAll(/<form\b[\s\S]*?<\/form>/gi)) {
        for (const [markup] of form.matchAll(/<button\b[^>]*>[\s\S]*?<\/button>/gi)) {
          if (labelOf(markup) === label) return formOf(url, form, /^<button\b[^>]*>/i.exec(markup)?.[0] ?? '')
        }
      }
      throw new Error(`${url} (${status}) has no button "${label}"`)
    },
  })

  return { open: url => visit(url, 'GET', undefined, 20), stops, cookies: origin => Object.fromEntries(jars.get(origin) ?? []) }
}
