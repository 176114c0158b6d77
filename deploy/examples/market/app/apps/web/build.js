// Makes the static site dist/ from the prices.
import { mkdirSync, writeFileSync } from 'node:fs'
import { inYen, prices } from 'prices'

const rows = Object.entries(prices).map(([name, price]) => `<li>${name}: ${inYen(price)}</li>`)
mkdirSync('dist', { recursive: true })
writeFileSync('dist/index.html', `<!doctype html><meta charset="utf-8"><title>Market</title><ul>${rows.join('')}</ul>\n`)
