// Which names say that another content has another name.
import { expect, test } from 'vitest'
import { isNamedByContent } from './content-name.ts'

test.each([
  'chunk-ABCDEFGH.js',
  'assets/index-BxT3kz9a.js',
  'assets/index-B2gH9x1k.css',
  'assets/vendor-Dk_4s-9Q.js',
  'main.3f2a9c1b.js',
  'static/js/main.3f2a9c1b.chunk.js.map',
  'static/media/logo.6ce24c58023cc2f8fd88.svg',
  'main-5YHCBL3K.js',
  'media/inter-3JQ5XZ7K.woff2',
  '_next/static/css/3f2a9c1b7d6e5a4c.css',
  '_next/static/chunks/938-1f2e3d4c5b6a7988.js',
  '_nuxt/BxT3kz9a.js',
  '_app/immutable/chunks/Bq9x3ZkP.js',
  '_astro/hoisted.C5x2vQ1a.js',
  'index.d41d8cd98f00b204e9800998ecf8427e.css',
])('%s is kept for ever', path => {
  expect(isNamedByContent(path)).toBe(true)
})

test.each([
  'team-portrait-2.jpg',
  'logo-2024-final.png',
  'brochure-20240115.pdf',
  'brochure-20240115b2.pdf',
  'service-worker-v2.js',
  'config-production-1.json',
  'index-Settings.js',
  'setup-Win11Pro.exe',
  'icon-LinkedIn.svg',
  'icon-GitHubV2.svg',
  'poster-2ndDraft.png',
  'photo-PORTRAIT.jpg',
  'jquery-3.7.1.min.js',
  'bootstrap.bundle.min.js',
  'release-notes-1.20.300.txt',
  'report-0000000001.csv',
  'photo-550e8400-e29b-41d4-a716-4466554a4b4c.jpg',
  '507f1f77bcf86cd799439011.jpg',
  'index-B2gH9x1k.html',
  'sw.js',
  '_nuxt/builds/latest.json',
  'manifest.webmanifest',
  'camera-userGuide2.js',
])('%s is asked for again', path => {
  expect(isNamedByContent(path)).toBe(false)
})

test('most of what Vite and Rollup write is recognized', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  let state = 7
  const next = (): string => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return alphabet[Math.floor((state / 2_147_483_648) * 64)] ?? ''
  }
  const hashes = Array.from({ length: 2_000 }, () => Array.from({ length: 8 }, next).join(''))
  const share = (extension: string): number =>
    hashes.filter(hash => isNamedByContent(`assets/index-${hash}.${extension}`)).length / hashes.length
  expect(share('js')).toBeGreaterThan(0.85)
  expect(share('png')).toBeGreaterThan(0.6)
})
