import { createServer } from 'node:http'
import { prices } from 'prices'

createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(prices))
}).listen(Number(process.env.PORT))
