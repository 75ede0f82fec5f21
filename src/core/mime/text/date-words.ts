/**
 * Words of dates and names that begin with a small letter: months and days of the week of languages that write them so, in
 * full and shortened (after CLDR 44), what stands between parts of a date or before a name, and particles of names.
 */
const WORDS = `
  janvier février mars avril mai juin juillet août septembre octobre novembre décembre janv févr avr juil déc january
  february march april may june july august september october november december lundi mardi mercredi jeudi vendredi
  samedi dimanche lun mar mer jeu ven sam dim enero febrero marzo abril mayo junio julio agosto septiembre setiembre
  octubre noviembre diciembre ene feb abr jun jul ago sep sept oct nov dic lunes martes miércoles jueves viernes sábado
  domingo mié jue vie sáb dom janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev set out
  dez segunda terça quarta quinta sexta feira seg ter qua qui sex gennaio febbraio aprile maggio giugno luglio settembre
  ottobre dicembre gen mag giu lug ott lunedì martedì mercoledì giovedì venerdì sabato domenica gio sab giorno januari
  februari maart juni juli augustus oktober jan mrt apr aug okt dec maandag dinsdag woensdag donderdag vrijdag zaterdag
  zondag ma di wo do vr za zo augusti desember januar februar marts maj måndag tisdag onsdag torsdag fredag lördag
  söndag mandag tirsdag lørdag søndag mån tis ons tors tor fre lör sön man tir lør søn des tammikuuta helmikuuta
  maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta tammik
  helmik maalisk huhtik toukok kesäk heinäk elok syysk lokak marrask jouluk maanantai tiistai keskiviikko torstai
  perjantai lauantai sunnuntai maanantaina tiistaina keskiviikkona torstaina perjantaina lauantaina sunnuntaina ti ke to
  pe la su stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia sty lut
  kwi cze lip sie wrz paź lis gru poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę pon
  wt śr czw pt sob niedz ledna února března dubna května června července srpna září října listopadu prosince led úno bře
  dub kvě čvn čvc srp zář říj pro pondělí úterý středa čtvrtek pátek neděle po út st čt pá so ne januára februára apríla
  mája júna júla augusta septembra októbra novembra decembra pondelok utorok streda štvrtok piatok nedeľa ut št pi máj
  jún júl január február március április május június július augusztus szeptember október márc ápr szept hétfő kedd
  szerda csütörtök péntek szombat vasárnap sze cs sz ianuarie februarie martie aprilie iunie iulie septembrie octombrie
  noiembrie decembrie ian iun iul luni marți miercuri joi vineri sâmbătă duminică mie vin sâm dum siječnja veljače
  ožujka travnja svibnja lipnja srpnja kolovoza rujna studenoga studenog prosinca ponedjeljak utorak srijeda četvrtak
  petak subota nedjelja ponedeljek torek sreda četrtek petek uto sri čet pet sub ned sij velj ožu tra svi kol ruj stu
  sausio vasario kovo balandžio gegužės birželio liepos rugpjūčio rugsėjo spalio lapkričio gruodžio jaanuar veebruar
  märts aprill juuni juuli oktoober detsember esmaspäev teisipäev kolmapäev neljapäev reede laupäev pühapäev января
  февраля марта апреля мая июня июля августа сентября октября ноября декабря янв февр фев мар апр июн июл авг сент сен
  окт нояб ноя дек понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс січня лютого
  березня квітня травня червня липня серпня вересня жовтня листопада грудня січ лют бер квіт трав черв лип серп вер жовт
  лист груд понеділок вівторок середа четвер субота неділя нд януари февруари април май юни юли август септември
  октомври ноември декември понеделник сряда четвъртък петък събота ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου
  ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου gener febrer març maig juny juliol agost setembre
  desembre dilluns dimarts dimecres dijous divendres dissabte diumenge tháng thứ thg th lúc năm vào am pm um uhr at on
  the le el il en em op den på dnia dne dňa w v o kl klo klokken h g r г р в о по las os às à alle ore a de del al času
  časa ob ora om u p m π μ στις est cet cest gmt utc mez mesz msk nd rd von vom van der die das dem della da dos du lo
  les los ibn bin zu zum zur und af av y e i og from by fra från od от від via c hat heeft har ha het volgende folgendes
  følgende följande je va has tarihinde 님이 odesílatel ο χρήστης użytkownik пользователь używa keltezéssel időpontban
  időpont používateľ utilisateur usuario utente mailto sent data dniu godz nachm vorm quot lt gt amp
`;

/** Lower-case. */
export const DATE_WORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/));
