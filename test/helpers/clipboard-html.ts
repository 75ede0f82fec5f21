/** HTML as programs put it on the clipboard, and what of it a message shows (without `div` and `tbody`). */

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const wordEntry = (level: number, marker: string, text: string) =>
  `<p class=MsoListParagraphCxSpMiddle style='margin-left:${36 * level}.0pt;mso-add-space:auto;text-indent:-18.0pt;mso-list:l0 level${level} lfo1'><![if !supportLists]><span style='font-family:Symbol;mso-fareast-font-family:Symbol;mso-bidi-font-family:Symbol'><span style='mso-list:Ignore'>${marker}<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;&nbsp;&nbsp;&nbsp; </span></span></span><![endif]>${text}<o:p></o:p></p>`;

export const CLIPBOARD = {
  excel: {
    html: `<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns="http://www.w3.org/TR/REC-html40"><head><meta http-equiv=Content-Type content="text/html; charset=utf-8"><meta name=ProgId content=Excel.Sheet><style><!--table{mso-displayed-decimal-separator:"\\,";}td{padding-top:1px;mso-number-format:General;}.xl65{font-weight:700;}--></style></head><body link="#0563C1"><table border=0 cellpadding=0 cellspacing=0 width=128 style='border-collapse:collapse;width:96pt'><col width=64 span=2 style='width:48pt'>
<!--StartFragment-->
 <tr height=20 style='height:15.0pt'>
  <td height=20 width=64 style='height:15.0pt;width:48pt'>Pos</td>
  <td width=64 style='width:48pt'>Menge</td>
 </tr>
 <tr height=20 style='height:15.0pt'>
  <td height=20 align=right style='height:15.0pt'>1</td>
  <td align=right>18</td>
 </tr>
<![if supportMisalignedColumns]>
 <tr height=0 style='display:none'>
  <td width=64 style='width:48pt'></td>
  <td width=64 style='width:48pt'></td>
 </tr>
<![endif]>
<!--EndFragment--></table></body></html>`,
    shows: '<table><tr><td>Pos</td><td>Menge</td></tr><tr><td>1</td><td>18</td></tr></table>',
  },
  sheets: {
    html: `<meta charset='utf-8'><google-sheets-html-origin><style type="text/css"><!--td {border: 1px solid #cccccc;}--></style><table xmlns="http://www.w3.org/1999/xhtml" cellspacing="0" cellpadding="0" dir="ltr" border="1" style="table-layout:fixed;font-size:10pt" data-sheets-root="1" data-sheets-baot="1"><colgroup><col width="100"/><col width="100"/></colgroup><tbody><tr style="height:21px;"><td style="overflow:hidden;padding:2px 3px;font-weight:bold;" colspan="2">Summe</td></tr><tr style="height:21px;"><td style="overflow:hidden;text-align:right;">1</td><td style="overflow:hidden;font-style:italic;">zwei</td></tr></tbody></table></google-sheets-html-origin>`,
    shows:
      '<table><tr><td colspan="2"><strong>Summe</strong></td></tr><tr><td>1</td><td><em>zwei</em></td></tr></table>',
  },
  libreoffice: {
    html: `<!DOCTYPE html><html><head><meta http-equiv="content-type" content="text/html; charset=utf-8"/><title></title><meta name="generator" content="LibreOffice 7.4 (Linux)"/><style type="text/css">@page { size: 21cm 29.7cm; margin: 2cm } p { line-height: 115% } td p { orphans: 0 }</style></head><body lang="de-DE" dir="ltr"><table width="100%" cellpadding="4" cellspacing="0"><col width="128*"/><col width="128*"/><tr valign="top"><th width="50%" style="border: 1px solid #000000"><p>Teil</p></th><th width="50%"><p>Preis</p></th></tr><tr valign="top"><td><p><font color="#c9211e"><b>Rad</b></font></p></td><td><p>7 €</p></td></tr></table><ol><li><p>eins</p></li><li><p>zwei</p></li></ol></body></html>`,
    shows:
      '<table><tr><th>Teil</th><th>Preis</th></tr><tr><td><strong>Rad</strong></td><td>7 €</td></tr></table><ol><li>eins</li><li>zwei</li></ol>',
  },
  word: {
    html: `<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:w="urn:schemas-microsoft-com:office:word"><head><meta name=ProgId content=Word.Document><!--[if gte mso 9]><xml><w:WordDocument></w:WordDocument></xml><![endif]--><style><!-- p.MsoNormal {margin:0cm;} --></style></head><body lang=DE style='tab-interval:35.4pt'><!--StartFragment--><p class=MsoNormal><b style='mso-bidi-font-weight:normal'>Fett</b> und <i style='mso-bidi-font-style:normal'>kursiv</i>, <a href="https://word.test/a">Link</a><o:p></o:p></p>${wordEntry(1, '·', 'eins')}${wordEntry(2, 'o', 'darunter')}${wordEntry(1, '·', 'zwei')}<p class=MsoNormal>Text</p>${wordEntry(1, '3.', 'drei')}${wordEntry(1, '4.', 'vier')}<table class=MsoTableGrid border=1 cellspacing=0 cellpadding=0 style='border-collapse:collapse;mso-yfti-tbllook:1184'><tr style='mso-yfti-irow:0'><td width=302 valign=top style='width:226.5pt'><p class=MsoNormal>a<o:p></o:p></p></td><td width=302 valign=top><p class=MsoNormal>b<o:p></o:p></p></td></tr></table><!--EndFragment--></body></html>`,
    shows:
      '<strong>Fett</strong> und <em>kursiv</em>, <a href="https://word.test/a">Link</a><ul><li>eins<ul><li>darunter</li></ul></li><li>zwei</li></ul>Text<ol start="3"><li>drei</li><li>vier</li></ol><table><tr><td>a</td><td>b</td></tr></table>',
  },
  wordOnline: {
    html: `<meta charset='utf-8'><div class="ListContainerWrapper SCXW1 BCX0"><ol class="NumberListStyle1 SCXW1" role="list" start="1"><li data-leveltext="%1." data-listid="1" role="listitem" class="OutlineElement Ltr SCXW1"><p class="Paragraph SCXW1"><span class="TextRun SCXW1"><span class="NormalTextRun SCXW1">eins</span></span><span class="EOP SCXW1"></span></p></li></ol></div><div class="ListContainerWrapper SCXW1 BCX0"><ol class="NumberListStyle1 SCXW1" role="list" start="2"><li data-leveltext="%1." role="listitem" class="OutlineElement Ltr SCXW1"><p class="Paragraph SCXW1"><span class="TextRun SCXW1">zwei</span></p></li></ol></div>`,
    shows: '<ol><li>eins</li><li>zwei</li></ol>',
  },
  googleDocs: {
    html: `<meta charset='utf-8'><meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-5d"><ul style="margin-top:0;padding-inline-start:48px;"><li dir="ltr" style="list-style-type:disc;font-weight:400;" aria-level="1"><p dir="ltr" style="line-height:1.38;" role="presentation"><span style="font-weight:700;">eins</span></p></li><ul style="margin-top:0;"><li dir="ltr" style="list-style-type:circle;" aria-level="2"><p dir="ltr" role="presentation"><span style="font-weight:400;">darunter</span></p></li></ul></ul><div dir="ltr" style="margin-left:0pt;" align="left"><table style="border:none;border-collapse:collapse;"><colgroup><col width="302" /><col width="302" /></colgroup><tbody><tr style="height:0pt"><td style="border-left:solid #000 1pt;"><p dir="ltr"><span style="font-size:11pt;">a</span></p></td><td><p dir="ltr"><span style="text-decoration:underline;">b</span></p></td></tr></tbody></table></div></b><br class="Apple-interchange-newline">`,
    shows:
      '<ul><li><strong>eins</strong><ul><li>darunter</li></ul></li></ul><table><tr><td>a</td><td><u>b</u></td></tr></table>',
  },
  gmail: {
    html: `<meta charset='utf-8'><div dir="ltr" style="color:rgb(34,34,34);"><div>Hallo,</div><img alt="Logo" src="${PIXEL}" width="20"><blockquote class="gmail_quote" style="margin:0px"><table role="presentation"><tbody><tr><td><div>links</div></td><td>rechts</td></tr></tbody></table></blockquote></div>`,
    shows: 'Hallo,<img class="writer-image" alt="Logo" width="20"><blockquote>linksrechts</blockquote>',
  },
  web: {
    html: `<meta charset='utf-8'><table class="wikitable" style="background-color: rgb(248, 249, 250);"><caption>Titel</caption><tbody><tr><th rowspan="2" onclick="top.hacked = 1">k</th><td>1<script>top.hacked = 1</script></td></tr><tr><td style="display: none">x</td><td><a href="javascript:top.hacked = 1">2</a></td></tr></tbody></table>`,
    shows: 'Titel<table><tr><th rowspan="2">k</th><td>1</td></tr><tr><td>2</td></tr></table>',
  },
} as const;
